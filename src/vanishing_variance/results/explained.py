"""Explained accuracy: what quantities inside a model say of it between seeds, between models, and across lengths.

n rows: models times lengths.
"""

from typing import Any

import numpy as np
import pandas as pd

from vanishing_variance.engine.streams import stream
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.markdown import table
from vanishing_variance.results.accuracy import MODEL, OUTPUTS, WEIGHTS, rounded, rows
from vanishing_variance.results.compare.gains import columns, texts
from vanishing_variance.results.quantities import GROUPINGS, MEANINGS, QUANTITIES
from vanishing_variance.statistics.association import Association, association

INSIDE = [*MODEL, "length", *WEIGHTS, *OUTPUTS]
COLUMNS = [
    *("task", "range", "norms", "grouping", "quantity", "n"),
    *("r", "r_low", "r_high", "r2", "r2_low", "r2_high", "beyond", "beyond_low", "beyond_high", "note"),
]
NOTE = (
    "The squared correlation with the accuracy (as trained, all test lengths) within groups, in percent, and its "
    "95% interval, by the bootstrap over seeds. Between seeds: models of one normaliser at one length. Between models: "
    "of all normalisers at one length, so that what a normaliser changes counts too; in the last column, beyond what "
    "the attention on the target explains. Across lengths: one model at all lengths; everything that changes with "
    f"length explains much there. {MEANINGS}"
)


def inside(measured: pd.DataFrame) -> pd.DataFrame:
    """Return the frame of metrics/mechanism.csv, INSIDE: a row a model and test length, numbers with six digits.

    Length 0 is the training lengths, of which O alone is kept. `measured`: the columns of `measure.evaluation` and
    those of MODEL. Raises InputError where a number is not finite.
    """
    frame = measured[INSIDE].reset_index(drop=True)
    for name in (*WEIGHTS, *OUTPUTS):
        wrong = frame[~np.isfinite(frame[name])]
        if len(wrong):
            task, range_, norm, seed, length, value = wrong[[*MODEL, "length", name]].iloc[0]
            raise InputError(
                f"runs/evaluated: {name} is {value} ({task}, {range_}, {norm}, seed {seed}, length {length}), as where "
                "O does not vary at all; try larger initial weights, or a larger training.learning_rate"
            )
    frame = rounded(frame)
    frame.loc[frame["length"] == 0, WEIGHTS] = np.nan
    return frame


def beside_accuracy(inside: pd.DataFrame, accuracy: pd.DataFrame) -> pd.DataFrame:
    """Return a row a model and test length: MODEL, length, `accuracy` by the rule `last` (a fraction), its inside.

    What was measured of O at the training lengths stands beside it, as `trained_<name>`. `inside` and `accuracy` are
    the frames of metrics/mechanism.csv and metrics/accuracy.csv.
    """
    tested = inside[inside["length"] > 0]
    trained = rows(inside, length=0).set_index(MODEL)[OUTPUTS].add_prefix("trained_").reset_index()
    last = rows(accuracy, rule="last").drop(columns="rule")
    together = tested.merge(trained, on=MODEL, validate="many_to_one")
    return together.merge(last, on=[*MODEL, "length"], validate="one_to_one")


def explained(beside: pd.DataFrame, root: int) -> pd.DataFrame:
    """Return a row a task, range, grouping and quantity: how much of the accuracy it explains, over all test lengths.

    `norms`, the normalisers whose models are in it; `r`, the correlation within groups, and `r2`, its square, each with
    a 95% interval over seeds (`…_low`, `…_high`); `beyond`, the squared partial correlation given the attention on the
    target, with its interval; `n`, models times lengths; `note`, why something is missing.
    """
    associations = []
    for (task, range_), models in beside.groupby(["task", "range"], sort=False):
        norms = ", ".join(models["norm"].unique())
        for grouping in GROUPINGS:
            for quantity in QUANTITIES:
                rng = stream(root, "explained", str(task), str(range_), grouping, quantity)
                names = {"task": task, "range": range_, "norms": norms, "grouping": grouping, "quantity": quantity}
                associations.append(names | _associated(models, grouping, quantity, rng))
    return pd.DataFrame(associations)[COLUMNS]


def _associated(models: pd.DataFrame, grouping: str, quantity: str, rng: np.random.Generator) -> dict[str, Any]:
    """Return the association of a quantity with accuracy within groups, and that beyond the attention on the target."""
    _, compute = QUANTITIES[quantity]
    values = compute(models).to_numpy(dtype=float)
    accuracy = models["accuracy"].to_numpy()
    group = models.groupby(list(GROUPINGS[grouping])).ngroup().to_numpy()
    seed = models["seed"].to_numpy()
    found = association(values, accuracy, group, seed, rng)
    beyond = Association(found.n)
    if quantity != "target":
        target = models["target"].to_numpy(dtype=float)
        beyond = association(values, accuracy, group, seed, rng, given=target)
    notes = dict.fromkeys(filter(None, [found.note, beyond.note]))
    of_beyond = columns("beyond", (beyond.r2, beyond.r2_low, beyond.r2_high))
    return {**vars(found), **of_beyond, "note": "; ".join(notes)}


def markdown(explained: pd.DataFrame) -> str:
    """Return the table as Markdown, a row a quantity and a column a grouping: r2 (%); and why a number is missing."""
    head = ["", *GROUPINGS, "between models, beyond target"]
    titles = [title for title, _ in QUANTITIES.values()]
    lines = ["# How much of the accuracy each quantity explains (%)"]
    for (task, range_), shares in explained.groupby(["task", "range"], sort=False):
        explaining = [texts(rows(shares, grouping=grouping), "r2", ".0f", 100) for grouping in GROUPINGS]
        beyond = texts(rows(shares, grouping="between models"), "beyond", ".0f", 100)
        body = table(head, zip(titles, *explaining, beyond, strict=True))
        norms = shares["norms"].iloc[0]
        lines += ["", f"**{task}, trained on the {range_} range ({norms})**", "", body]
    lines += ["", f"{NOTE} The sign is in explained.csv.", ""]
    noted = explained[explained["note"].fillna("") != ""]
    for row in noted.itertuples():
        lines.append(f"- {row.task} {row.range}, {row.grouping}, {row.quantity}: {row.note}.")
    return "\n".join(lines).rstrip() + "\n"
