"""What a study consists of: its tasks, training ranges and normalisers, and so its runs; and where its results go."""

from collections.abc import Sequence
from pathlib import Path

from vanishing_variance.paths import Run

METRICS = Path("metrics")
PLOTS = Path("plots")
REFERENCE = Path("reference/paper.csv")

TASKS = ("argmax", "dictionary")
RANGES = ("short",)

# What the paper compares, whatever the treatment is: the ablation of Tables 3 and 6.
NORMS = ("none", "std", "ln")


def expected(norm: str, blocks: Sequence[int]) -> list[Run]:
    """Every run of the study with treatment `norm`: what is downstream reads these, and no other that lies there."""
    norms = dict.fromkeys((*NORMS, norm))
    return [Run(task, name, norm, block) for task in TASKS for name in RANGES for norm in norms for block in blocks]
