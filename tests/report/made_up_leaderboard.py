"""Small results of the leaderboard, for the tests of its page and its chart."""

import pandas as pd
from made_up_board import accuracies, make_board
from made_up_results import picture

from vanishing_variance.core.ranges import Range
from vanishing_variance.leaderboard import ablation, ceiling
from vanishing_variance.leaderboard.curves import curves
from vanishing_variance.leaderboard.treatments import Treatment
from vanishing_variance.report.leaderboard import Results

TRAINED = Range(shortest=5, longest=16)
MEANS = {"softmax": (0.99, 0.5, 0.4, 0.3), "best": (0.99, 0.98, 0.97, 0.96), "<good>": (0.99, 0.96, 0.95, 0.93)}
MEANS |= {f"line-{place}": (0.9, 0.8, 0.7, 0.6 - place / 20) for place in range(6)}
FRAMES = [
    accuracies(line, of, rule, task)
    for line, of in MEANS.items()
    for task in ("argmax", "dictionary")
    for rule in ("trained", "hard")
]
ACCURACY = pd.concat(FRAMES)
DIVERGED = dict.fromkeys([("argmax", "broken"), ("dictionary", "broken")], "nan at step 7")
BOARD = make_board(*FRAMES, lines=[*MEANS, "broken"], diverged=DIVERGED).assign(step=1.5)


def leaderboard():
    """The contents of the page: of `best`, one piece differs from the baseline."""
    settings = {"projection": "mlp", "norm": "none", "decay": "none"}
    pieces = {"softmax": Treatment(attention="softmax", **settings), "best": Treatment(attention="power", **settings)}
    return Results(
        board=BOARD,
        accuracy=curves(ACCURACY),
        gains=ablation.ablation(ACCURACY[ACCURACY["rule"] == "trained"], pieces, "best", TRAINED.longest),
        ceilings=pd.DataFrame([("softmax", 0, 1.5e-6, 16384, 0.99, 0.98)], columns=ceiling.COLUMNS),
        picture=picture("leaderboard"),
        trained=TRAINED,
    )
