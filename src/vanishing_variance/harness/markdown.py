"""Markdown tables."""

from collections.abc import Iterable, Sequence

import pandas as pd


def table(head: Sequence[str], rows: Iterable[Sequence[str]], texts: int = 1) -> str:
    """Return a table whose first columns, as many as `texts`, are aligned to the left, the others to the right."""
    frame = pd.DataFrame(rows, columns=list(head)).replace(r"\|", r"\\|", regex=True)
    alignment = ["left"] * texts + ["right"] * (len(head) - texts)
    return str(frame.to_markdown(index=False, disable_numparse=True, colalign=alignment))
