"""Files of the leaderboard: a folder per line and task, and the names in it."""

from pathlib import Path

from vanishing_variance.harness.paths import RUNS

TASKS = ("argmax", "dictionary")
WEIGHTS, LOSSES = "weights.safetensors", "losses.parquet"
ACCURACY, ATTENTION = "accuracy.parquet", "attention.parquet"
# A training that diverged leaves this instead of weights, and its test passes it on: {"said": the error's message}.
DIVERGED = "diverged.json"

# Rules at test time: the attention map as trained, the adaptive temperature as published, and as fitted to the models
# with labels at the test lengths, all weight on the largest logit.
TRAINED, ADAPTIVE, FITTED, HARD = RULES = ("trained", "adaptive", "fitted", "hard")


def folder(kind: str, line: str, task: str) -> Path:
    """Return the folder of a kind: trained, tested, or checkpoints, which is no output."""
    return RUNS / "leaderboard" / kind / line / task
