"""Runs of the study: its tasks, training ranges and normalisers; and the folders of its results."""

from collections.abc import Sequence
from pathlib import Path

from vanishing_variance.harness.paths import RUNS, Run

METRICS = Path("metrics")
# Tables 1 to 6, the paired tests, and every cell beside the paper's.
TABLES = METRICS / "tables"
PLOTS = Path("plots")
# Figures of the stage `figures`, and the data of its figures and of DVC's plots.
FIGURES, DATA = PLOTS / "figures", PLOTS / "data"
# The paper's numbers; cells that its conversion to text lost are absent.
REFERENCE = Path(__file__).with_name("paper.csv")
# Raw results of the stage `interventions`.
INTERVENTIONS = RUNS / "interventions"

TASKS = ("argmax", "dictionary")
RANGES = ("short", "long")

# The paper's tables, by number, and which of them are ablations.
PAPER_TABLES = {
    **{1: ("argmax", "short"), 2: ("dictionary", "short"), 3: ("argmax", "short")},
    **{4: ("argmax", "long"), 5: ("dictionary", "long"), 6: ("dictionary", "short")},
}
ABLATIONS = (3, 6)

# At test time: the softmax, the adaptive temperature as published, and the one that is fitted to our own models.
TEMPERATURES = ("plain", "adaptive", "fitted")

# What the paper compares on the short range, whatever the treatment is: the ablation of Tables 3 and 6.
NORMS = ("none", "std", "ln")


def expected(norm: str, blocks: Sequence[int]) -> list[Run]:
    """Return every run of the study with treatment `norm`: stages downstream read these, and no other."""
    return [
        Run(task, name, one, block)
        for task in TASKS
        for name in RANGES
        for one in trained(name, norm)
        for block in blocks
    ]


def compared(range_: str, norm: str) -> list[tuple[str, str]]:
    """Return the tested pairs (treatment, baseline): against `none`, and on the short range `ln` against `std`."""
    against_none = [(one, "none") for one in trained(range_, norm) if one != "none"]
    return [*against_none, ("ln", "std")] if range_ == "short" else against_none


def trained(range_: str, norm: str) -> list[str]:
    """Return the normalisers that a range is trained with: the long one `none` and the treatment alone, as in B.2."""
    return list(dict.fromkeys((*(NORMS if range_ == "short" else ("none",)), norm)))
