"""Tables of the page: Tables 1 to 6 with the paper's numbers below ours, and the gains of the records."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from markupsafe import Markup

from vanishing_variance.harness.numbers import MISSING, drawn_power, estimate
from vanishing_variance.harness.runs import ABLATIONS
from vanishing_variance.report.strongest import Study
from vanishing_variance.report.verdicts import ours, papers
from vanishing_variance.results.tables import TITLES


def paper_table(number: int, numbers: pd.DataFrame, norm: str) -> Markup:
    """Return one of `results.tables.numbers`, of the treatment `norm`; a column a length."""
    ends = numbers[["low", "high"]].to_numpy()
    intervals = [MISSING if pd.isna(low) else f"{low:+.1f}, {high:+.1f}" for low, high in ends]
    numbers = numbers.assign(interval=intervals)
    texts = pd.DataFrame(index=numbers["length"].map(drawn_power))
    for name, (column, how) in _rows(number, norm).items():
        if column in numbers:
            texts[name] = [estimate(how, value).replace("-", "−") for value in numbers[column]]
    titles = numbers["rule"].map(TITLES).to_numpy()
    table = pd.concat({title: texts[titles == title].T for title in dict.fromkeys(titles)})
    is_known = (table != MISSING).any(axis=1)
    return _html(table[is_known])


def _rows(number: int, norm: str) -> dict[str, tuple[str, str]]:
    """Return, by the name of a row, its column and Python's format of its numbers."""
    ours = {"none": ("none", ".1f"), f"+ {norm}": (norm, ".1f")}
    papers = {"paper: none": ("paper_none", ".1f"), f"paper: + {norm}": (f"paper_{norm}", ".1f")}
    difference = f"{norm} − none (pp)"
    if number in ABLATIONS:
        ours = {f"gain of {name} (pp)": (f"gain_{name}", "+.1f") for name in ("std", "ln", norm)}
        papers = {"paper: gain of std (pp)": ("paper_gain_std", "+.1f")}
        difference = "ln − std (pp)"
    test = {difference: ("difference", "+.1f"), "95% interval": ("interval", "")}
    test |= {"p": ("p", ".1g"), "p, Holm": ("p_holm", ".1g")}
    return {**ours, **test, **papers, "paper: p": ("paper_p", ".1g")}


def gains(records: Mapping[str, Study]) -> Markup:
    """Return our gains in accuracy: a row a claim, a column a record, the last one the paper's."""
    first, *_ = records.values()
    names = {key: claim["claim"] for key, claim in first.claims.items() if claim["unit"] == "pp"}
    table = pd.DataFrame(index=list(names))
    for name, record in records.items():
        table[name] = pd.Series(record.claims).map(_gain)
    table["paper’s"] = pd.Series(first.claims).map(papers)
    return _html(table.fillna(MISSING).rename(index=names))


def _gain(claim: Mapping[str, Any]) -> str:
    return f"{ours(claim)}, n\u00a0=\u00a0{claim['n']}: {claim['verdict']}" if claim["n"] else MISSING


def _html(table: pd.DataFrame) -> Markup:
    table.columns.name = table.index.name = None
    return Markup(table.to_html(border=0))  # noqa: S704 -- pandas escapes the cells
