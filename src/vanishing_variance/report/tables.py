"""Tables of the page: Tables 1 to 6 with the paper's numbers below ours, and the gains of the records."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from markupsafe import Markup

from vanishing_variance.harness.numbers import MISSING, drawn_power, estimate
from vanishing_variance.harness.runs import ABLATIONS
from vanishing_variance.report.strongest import Study
from vanishing_variance.report.verdicts import ours, papers

TEMPERATURES = {
    "plain": "plain softmax",
    "adaptive": "adaptive temperature, as published",
    "fitted": "adaptive temperature, fitted with labels at these lengths",
}


def paper_table(number: int, numbers: pd.DataFrame, norm: str) -> Markup:
    """Return one of `results.tables.numbers`, of the treatment `norm`; a column a length."""
    ends = numbers[["low", "high"]].to_numpy()
    numbers = numbers.assign(interval=[MISSING if pd.isna(low) else f"{low:+.1f}, {high:+.1f}" for low, high in ends])
    texts = pd.DataFrame(index=numbers["length"].map(drawn_power))
    for name, (column, how) in _rows(number, norm).items():
        if column in numbers:
            texts[name] = [estimate(how, value).replace("-", "−") for value in numbers[column]]
    groups = {}
    for temperature, title in TEMPERATURES.items():
        chosen = (numbers["temperature"] == temperature).to_numpy()
        if chosen.any():
            groups[title] = texts[chosen].T
    table = pd.concat(groups)
    return _html(table[(table != MISSING).any(axis=1)])


def _rows(number: int, norm: str) -> dict[str, tuple[str, str]]:
    """Return, by the name of a row, its column and Python's format of its numbers."""
    ours = {"none": ("none", ".1f"), f"+ {norm}": (norm, ".1f"), f"{norm} − none (pp)": ("difference", "+.1f")}
    papers = {"paper: none": ("paper_none", ".1f"), f"paper: + {norm}": (f"paper_{norm}", ".1f")}
    if number in ABLATIONS:
        ours = {f"gain of {name} (pp)": (f"gain_{name}", "+.1f") for name in ("std", "ln", norm)}
        ours["ln − std (pp)"] = ("difference", "+.1f")
        papers = {"paper: gain of std (pp)": ("paper_gain_std", "+.1f")}
    test = {"95% interval": ("interval", ""), "p": ("p", ".1g"), "p, Holm": ("p_holm", ".1g")}
    return {**ours, **test, **papers, "paper: p": ("paper_p", ".1g")}


def gains(records: Mapping[str, Study]) -> Markup:
    """Return our gains in accuracy: a row a claim, a column a record, the last one the paper's."""
    first = next(iter(records.values()))
    claims = {key: claim for key, claim in first.claims.items() if claim["unit"] == "pp"}
    columns = {}
    for name, record in records.items():
        columns[name] = [_gain(record.claims[key]) if key in record.claims else MISSING for key in claims]
    columns["paper’s"] = [papers(claim) for claim in claims.values()]
    return _html(pd.DataFrame(columns, index=[claim["claim"] for claim in claims.values()]))


def _gain(claim: Mapping[str, Any]) -> str:
    return f"{ours(claim)}, n\u00a0=\u00a0{claim['n']}: {claim['verdict']}" if claim["n"] else MISSING


def _html(table: pd.DataFrame) -> Markup:
    table.columns.name = table.index.name = None
    return Markup(table.to_html(border=0))  # noqa: S704 -- pandas escapes the cells
