"""The baseline beside the paper's: the accuracy of `none`, as trained, at a training length."""

import pandas as pd

from vanishing_variance.results.scale import PAPER_LONGEST

# Percentage points that a baseline may be below the paper's, and still count as trained like the paper's.
BEHIND = 0.5


def baseline(ours: "pd.Series[float]", papers: "pd.Series[float]", range_: str) -> tuple[int, float, float] | None:
    """Return a length, and our and the paper's mean accuracy (%) of `none` there; `ours` and `papers` are by length.

    It is the shortest training length whose number in the paper survives: 2^4 but for Table 5, which has lost
    those below 2^7. None where none does.
    """
    both = papers.dropna().index.intersection(ours.index)
    if not len(both) or both.min() > PAPER_LONGEST[range_]:
        return None
    length = int(both.min())
    return length, float(ours[length]), float(papers[length])
