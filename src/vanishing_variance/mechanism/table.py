"""How much of the accuracy each quantity explains, as one table."""

import pandas as pd

from vanishing_variance.markdown import row
from vanishing_variance.mechanism.explanation import GROUPINGS, QUANTITIES


def markdown(explained: pd.DataFrame) -> str:
    """A heading a task and range, a row a quantity, a column a grouping: r2 in percent with its 95% interval.

    The last column is what the quantity explains between models beyond the attention on the target.
    """
    lines = ["# How much of the accuracy each quantity explains (%)"]
    for (task, range_), of in explained.groupby(["task", "range"], sort=False):
        lines += ["", f"**{task}, trained on the {range_} range** ({of['norms'].iloc[0]})", ""]
        lines += [row(["", *GROUPINGS, "between models, beyond target"]), row(["---", *["--:"] * (len(GROUPINGS) + 1)])]
        for name, (title, _) in QUANTITIES.items():
            cells = [_cell(of, name, grouping, "r2") for grouping in GROUPINGS]
            lines.append(row([title, *cells, _cell(of, name, "between models", "beyond")]))
    notes = explained[explained["note"] != ""]
    reasons = [f"{of.task} {of.range}, {of.grouping}, {of.quantity}: {of.note}." for of in notes.itertuples()]
    return "\n".join([*lines, "", _NOTE, *reasons, ""])


_NOTE = (
    "The squared correlation with the accuracy (plain softmax, all test lengths) within groups, and its 95% interval, "
    "by the bootstrap over seeds. Between seeds: models of one normaliser at one length. Between models: of all "
    "normalisers at one length, so that what a normaliser changes counts too. Across lengths: one model at all "
    "lengths; everything that changes with length explains much there. The sign is in explained.csv."
)


def _cell(of: pd.DataFrame, quantity: str, grouping: str, name: str) -> str:
    [found] = of[(of["quantity"] == quantity) & (of["grouping"] == grouping)].to_dict("records")
    value, low, high = (found[column] for column in (name, f"{name}_low", f"{name}_high"))
    if pd.isna(value):
        return "–"
    return f"{value * 100:.0f}" + ("" if pd.isna(low) else f" [{low * 100:.0f}, {high * 100:.0f}]")
