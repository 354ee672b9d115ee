"""The baseline beside the paper's: the accuracy of `none`, as trained, at a training length."""

from dataclasses import dataclass

import pandas as pd

from vanishing_variance.results.scale import PAPER_LONGEST

# Percentage points that a baseline may be below the paper's, and still count as trained like the paper's.
BEHIND = 0.5


@dataclass(frozen=True)
class Baseline:
    """Mean accuracies (%) of `none` at one length: ours and the paper's."""

    length: int
    ours: float
    papers: float

    @property
    def below(self) -> float:
        """Percentage points below the paper's; comparable up to BEHIND."""
        return self.papers - self.ours


def baseline(ours: "pd.Series[float]", papers: "pd.Series[float]", range_: str) -> Baseline | None:
    """Return the baselines of a training range; `ours` and `papers` are the means of `none` by length.

    The length is the shortest training length whose number in the paper survives: 2^4 but for Table 5, which has lost
    those below 2^7. None where none does.
    """
    both = papers.dropna().index.intersection(ours.index)
    if not len(both) or both.min() > PAPER_LONGEST[range_]:
        return None
    length = int(both.min())
    return Baseline(length, float(ours[length]), float(papers[length]))
