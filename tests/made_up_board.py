"""Made-up results of the leaderboard's lines: accuracies by seed, and the weight on the target item."""

import numpy as np
import pandas as pd

from vanishing_variance.leaderboard.board import board
from vanishing_variance.leaderboard.treatments import Treatment

LENGTHS = (16, 64, 256, 16384)
CLASSES = {"argmax": 10, "dictionary": 64}


def treatment(attention="softmax", norm="none", projection="mlp", decay="none"):
    return Treatment(attention=attention, norm=norm, projection=projection, decay=decay)


def accuracies(line, means, rule="plain", task="argmax", seeds=range(6), spread=0.01):
    """Return a row a seed and length, with these mean accuracies at `LENGTHS`; the noise is the line's own."""
    rng = np.random.default_rng([*f"{line} {rule} {task}".encode()])
    rows = []
    for seed in seeds:
        for length, mean in zip(LENGTHS, means, strict=True):
            accuracy = np.clip(mean + spread * rng.normal(), 0, 1)
            rows.append((task, line, rule, seed, length, float(accuracy)))
    return pd.DataFrame(rows, columns=["task", "line", "rule", "seed", "length", "accuracy"])


def attention(accuracy):
    """Return, of every line, a weight of 1 / length + seed / 1000 on the target, and a variance of 2 / length."""
    trained = accuracy.loc[accuracy["rule"] == "plain", ["task", "line", "seed", "length"]]
    target = 1 / trained["length"] + trained["seed"] / 1000
    return trained.assign(target=target, variance=2 / trained["length"])


def make_board(*frames, lines, diverged=None, longest=16):
    """Return the board of these frames of `accuracies`; the first of `lines` is the baseline."""
    accuracy = pd.concat(frames)
    treatments = {line: treatment() for line in lines}
    how = {"classes": CLASSES, "sequences": 512, "longest": longest, "diverged": diverged or {}}
    return board(accuracy, attention(accuracy), treatments, **how)


def every_state():
    """Return a board of both tasks and its lines: some fine, with hard attention, one diverged, one at chance."""
    means = {"softmax": 0.9, "one": 0.8, "other": 0.95}
    frames = []
    for task, classes in CLASSES.items():
        for line, mean in means.items():
            decreasing = mean - np.array([0, 0.1, 0.2, 0.3])
            frames.append(accuracies(line, decreasing, task=task))
            frames.append(accuracies(line, decreasing + 0.03, "hard", task))
        frames.append(accuracies("constant", [1 / classes] * 4, task=task))
        frames.append(accuracies("constant", [1 / classes] * 4, "hard", task))
    frames.append(accuracies("broken", [0.9] * 4, task="dictionary"))
    frames.append(accuracies("broken", [0.9] * 4, "hard", "dictionary"))
    lines = [*means, "broken", "constant"]
    diverged = {("argmax", "broken"): "seed 1 diverged at step 7"}
    return make_board(*frames, lines=lines, diverged=diverged), lines
