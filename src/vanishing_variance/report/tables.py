"""Tables 1 to 6 of the page, with the paper's numbers below ours; verdicts and numbers of claims as text.

And texts as HTML.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd
from markupsafe import Markup, escape

from vanishing_variance.claims.verdict import MEANINGS, shown
from vanishing_variance.harness.numbers import MISSING, drawn_power, estimate
from vanishing_variance.results.tables import TITLES, table_rows

# Formats of `results.tables`, and those of the page, which has fewer digits.
SHORTER = {"+.2f": "+.1f", ".2g": ".1g", ".0e": ".1g"}


def paper_table(number: int, numbers: pd.DataFrame, norm: str) -> Markup:
    """Return one of `results.tables.numbers`, of the treatment `norm`; a column a length."""
    intervals = []
    for low, high in numbers[["low", "high"]].to_numpy():
        text = f"{low:+.1f}, {high:+.1f}".replace("-", "−")
        intervals.append(MISSING if pd.isna(low) else text)
    texts = pd.DataFrame(index=numbers["length"].map(drawn_power))
    for name, how, (column, *ends) in table_rows(number, norm):
        if column in numbers and name != "d_z":
            shorter = SHORTER.get(how, how)
            texts[name] = [estimate(shorter, value).replace("-", "−") for value in numbers[column]]
        if ends:
            texts["95% interval"] = intervals
    titles = numbers["rule"].map(TITLES).to_numpy()
    table = pd.concat({title: texts[titles == title].T for title in dict.fromkeys(titles)})
    shown = table[(table != MISSING).any(axis=1)]
    shown.columns.name = shown.index.name = None
    return Markup(shown.to_html(border=0))  # noqa: S704 -- pandas escapes the cells


def is_papers(claim: Mapping[str, Any]) -> bool:
    """Return whether a claim is the paper's; the others are ours."""
    return not claim["where"].startswith("ours")


def counts(claims: Iterable[Mapping[str, Any]]) -> str:
    """Return the number of claims by verdict, such as "29 supported, 4 contradicted as read"."""
    found = Counter(map(shown, claims))
    return ", ".join(f"{found[verdict]} {verdict}" for verdict in MEANINGS if verdict in found)


def ours(claim: Mapping[str, Any]) -> str:
    """Return our number with its 95% interval and unit; – where there is none."""
    text = _estimate(claim, "ours", "low", "high")
    unit = "" if text == MISSING else claim["unit"]
    return f"{text} {unit}".strip()


def papers(claim: Mapping[str, Any]) -> str:
    """Return the paper's number; – where there is none."""
    return _estimate(claim, "paper")


def _estimate(claim: Mapping[str, Any], *names: str) -> str:
    how = "+.1f" if claim["unit"] == "pp" else ".3g"
    values = [claim[name] for name in names]
    return estimate(how, *values).replace("-", "−")


def raised(text: str) -> Markup:
    """Return a text as HTML, with the exponents of its powers of two raised."""
    return Markup(re.sub(r"2\^(\d+)", r"2<sup>\1</sup>", str(escape(text))))  # noqa: S704 -- escaped
