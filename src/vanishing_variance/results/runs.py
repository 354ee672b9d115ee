"""Runs of the study: its tasks, training ranges and normalisers; the paper's tables and numbers."""

from collections.abc import Sequence
from itertools import product
from pathlib import Path

from vanishing_variance.engine.run import Run

# The paper's numbers; cells that its conversion to text lost are absent.
REFERENCE = Path(__file__).with_name("paper.csv")

TASKS = ("argmax", "dictionary")

# The paper's tables, by number, and which of them are ablations.
PAPER_TABLES = {
    1: ("argmax", "short"),
    2: ("dictionary", "short"),
    3: ("argmax", "short"),
    4: ("argmax", "long"),
    5: ("dictionary", "long"),
    6: ("dictionary", "short"),
}
ABLATIONS = (3, 6)

# How a model is tested: as trained; with the adaptive temperature; with all attention on the largest logit; and as
# trained, with the mean of the weights over the last part of the training. Of accuracies alone there may be others:
# `step_<n>`, with the weights after n steps.
RULES = ("last", "adaptive", "hard", "averaged")

# What the paper compares on the short range, whatever the treatment is: the ablation of Tables 3 and 6.
NORMS = ("none", "std", "ln")


def expected(norm: str, blocks: Sequence[int], ranges: Sequence[str], attention: str = "softmax") -> list[Run]:
    """Return every run of a study with treatment `norm` on its ranges: stages downstream read these, and no other."""
    runs = []
    for task, range_ in product(TASKS, ranges):
        for name, block in product(trained(range_, norm), blocks):
            runs.append(Run(task, range_, name, block, attention))
    return runs


def gathered(runs: Sequence[Run]) -> set[Path]:
    """Return the folders that the stage `ttest` reads of all runs of a study."""
    kinds = ("trained", "evaluated", "interventions")
    return {one.folder(kind) for kind in kinds for one in runs}


def compared(range_: str, norm: str) -> list[tuple[str, str]]:
    """Return the tested pairs (treatment, baseline): against `none`, and on the short range `ln` against `std`."""
    pairs = [(name, "none") for name in trained(range_, norm) if name != "none"]
    if range_ == "short":
        pairs.append(("ln", "std"))
    return pairs


def trained(range_: str, norm: str) -> list[str]:
    """Return the normalisers that a range is trained with: the long one `none` and the treatment alone, as in B.2."""
    others = NORMS if range_ == "short" else ("none",)
    return list(dict.fromkeys([*others, norm]))
