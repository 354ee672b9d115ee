"""Made-up results of the leaderboard's lines: accuracies by seed, and the weight on the target item."""

import numpy as np
import pandas as pd

from vanishing_variance.leaderboard.board import board
from vanishing_variance.leaderboard.treatments import Treatment

LENGTHS = (16, 64, 256, 16384)
CLASSES = {"argmax": 10, "dictionary": 64}


def treatments(lines):
    return {line: Treatment(attention="softmax", norm="none", projection="mlp", decay="none") for line in lines}


def accuracies(line, means, rule="trained", task="argmax", seeds=range(6), spread=0.01):
    """A row a seed and length, with these mean accuracies at `LENGTHS`; the noise is the line's own."""
    rng = np.random.default_rng(sum(map(ord, f"{line} {rule} {task}")))
    rows = [
        (task, line, rule, seed, length, float(np.clip(mean + spread * rng.normal(), 0, 1)))
        for seed in seeds
        for length, mean in zip(LENGTHS, means, strict=True)
    ]
    return pd.DataFrame(rows, columns=["task", "line", "rule", "seed", "length", "accuracy"])


def attention(accuracy):
    """Of every line of `accuracy`, a weight of 1 / length + seed / 1000 on the target, and a variance of 2 / length."""
    of = accuracy.loc[accuracy["rule"] == "trained", ["task", "line", "seed", "length"]]
    return of.assign(target=1 / of["length"] + of["seed"] / 1000, variance=2 / of["length"])


def make_board(*frames, lines, diverged=None, classes=CLASSES):
    """The board of these frames of `accuracies`; the first of `lines` is the baseline."""
    accuracy = pd.concat(frames) if frames else pd.DataFrame(columns=accuracies("a", [0] * 4).columns)
    return board(
        accuracy,
        attention(accuracy),
        treatments(lines),
        classes=classes,
        sequences=512,
        longest=16,
        diverged=diverged or {},
    )


def many_lines(count):
    """A board of both tasks with `count` lines beside the baseline, hard attention, one diverged and one at chance."""
    rng = np.random.default_rng(0)
    lines = ["softmax", *(f"line-with-a-name-{number}" for number in range(count - 3)), "broken", "constant"]
    frames = []
    for task, classes in CLASSES.items():
        for line in lines:
            if line == "broken" and task == "argmax":
                continue
            means = (
                np.full(4, 1 / classes) if line == "constant" else 1 - rng.uniform(0, 0.5) * np.array([0, 0.1, 0.4, 1])
            )
            frames.append(accuracies(line, means, task=task))
            frames.append(accuracies(line, np.minimum(1, means + 0.03), rule="hard", task=task))
    return make_board(*frames, lines=lines, diverged={("argmax", "broken"): "seed 1 diverged at step 7"}), lines
