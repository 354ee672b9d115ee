"""Files of the leaderboard: a folder a line and task, and the columns of the frames in it."""

from pathlib import Path

from vanishing_variance.harness.paths import RUNS
from vanishing_variance.harness.sections import Section

TASKS = ("argmax", "dictionary")
FOLDER = RUNS / "leaderboard"
WEIGHTS, LOSSES, DIVERGED = "weights.safetensors", "losses.parquet", "diverged.json"
# Accuracies are fractions. Means over sequences, with the map as trained: `target`, the attention weight of the target
# item; `variance`, the global variance of O (Section 2: over the D features of one output).
ACCURACY = ("seed", "rule", "length", "accuracy")
ATTENTION = ("seed", "length", "target", "variance")

# Rules at test time: the attention map as trained, the adaptive temperature as published, and as fitted to the models
# with labels at the test lengths, all weight on the largest logit.
TRAINED, ADAPTIVE, FITTED, HARD = RULES = ("trained", "adaptive", "fitted", "hard")


class Diverged(Section):
    """The contents of diverged.json, which a training that diverged leaves instead of weights: the error's message."""

    said: str


def trained(line: str, task: str) -> Path:
    """Return the folder of a line's training."""
    return FOLDER / "trained" / line / task


def tested(line: str, task: str) -> Path:
    """Return the folder of a line's test."""
    return FOLDER / "tested" / line / task


def checkpoints(line: str, task: str) -> Path:
    """Return the folder of a line's checkpoints, which is no output."""
    return FOLDER / "checkpoints" / line / task
