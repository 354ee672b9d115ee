"""Table of how much of the accuracy each quantity explains."""

import pandas as pd

from vanishing_variance.harness.markdown import Groups, estimate, grouped
from vanishing_variance.results.quantities import GROUPINGS, MEANINGS, QUANTITIES

HEAD = (*GROUPINGS, "between models, beyond target")
NOTE = (
    "The squared correlation with the accuracy (plain softmax, all test lengths) within groups, in percent, and its "
    "95% interval, by the bootstrap over seeds. Between seeds: models of one normaliser at one length. Between models: "
    "of all normalisers at one length, so that what a normaliser changes counts too; in the last column, beyond what "
    "the attention on the target explains. Across lengths: one model at all lengths; everything that changes with "
    f"length explains much there. {MEANINGS}"
)


def groups(explained: pd.DataFrame) -> Groups:
    """Return a heading a task and range, a row a quantity, a text a column of HEAD: r2 (%) with its 95% interval."""
    made: Groups = []
    for (task, range_), of in explained.groupby(["task", "range"], sort=False):
        rows = []
        for name, (title, _) in QUANTITIES.items():
            cells = [_cell(of, name, grouping, "r2") for grouping in GROUPINGS]
            rows.append((title, [*cells, _cell(of, name, "between models", "beyond")]))
        made.append((f"{task}, trained on the {range_} range ({of['norms'].iloc[0]})", HEAD, rows))
    return made


def markdown(explained: pd.DataFrame) -> str:
    """Return the table as Markdown, and why a number is missing."""
    lines = ["# How much of the accuracy each quantity explains (%)", *grouped(groups(explained))]
    notes = explained[explained["note"].fillna("") != ""]
    reasons = [f"- {of.task} {of.range}, {of.grouping}, {of.quantity}: {of.note}." for of in notes.itertuples()]
    return "\n".join([*lines, "", f"{NOTE} The sign is in explained.csv.", *(["", *reasons] if reasons else []), ""])


def _cell(of: pd.DataFrame, quantity: str, grouping: str, name: str) -> str:
    found = of[(of["quantity"] == quantity) & (of["grouping"] == grouping)]
    return estimate(".0f", *(100 * found[f"{name}{end}"].item() for end in ("", "_low", "_high")))
