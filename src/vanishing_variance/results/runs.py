"""The lines of params.yaml's study, each a normaliser and range; the paper's tasks, tables and numbers."""

from collections.abc import Collection, Sequence
from pathlib import Path

# The paper's numbers; cells that its conversion to text lost are absent.
REFERENCE = Path(__file__).with_name("paper.csv")

# The paper's; params.yaml may have others, too.
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
# Of a study that tunes weights, too: with those that were chosen of each line.
CHOSEN = "chosen"

# Before the normaliser's name in that of a line of the long range.
LONG = "long-"

# What the paper compares on the short range, whatever the treatment is: the ablation of Tables 3 and 6.
NORMS = ("none", "std", "ln")


def line_of(norm: str, range_: str = "short") -> str:
    """Return the name of the line of a normaliser and range: `ln`, or `long-ln`."""
    return norm if range_ == "short" else f"{LONG}{norm}"


def range_of(line: str) -> str:
    """Return the range of a line of `line_of`."""
    return "long" if line.startswith(LONG) else "short"


def norm_of(line: str) -> str:
    """Return the normaliser of a line of `line_of`."""
    return line.removeprefix(LONG)


def lines_of(norm: str, ranges: Sequence[str]) -> list[str]:
    """Return the lines of a study with treatment `norm` on its ranges."""
    return [line_of(name, range_) for range_ in ranges for name in dict.fromkeys((*NORMS, norm))]


def compared(lines: Collection[str]) -> list[tuple[str, str]]:
    """Return the tested pairs (line, baseline): those of a range against `none`, and `ln` against `std`."""
    pairs = []
    for range_ in dict.fromkeys(map(range_of, lines)):
        of_range = [line for line in lines if range_of(line) == range_ and norm_of(line) != "none"]
        pairs += [(line, line_of("none", range_)) for line in of_range]
        ln, std = line_of("ln", range_), line_of("std", range_)
        if {ln, std}.issubset(of_range):
            pairs.append((ln, std))
    return pairs
