"""Tables of the page: Tables 1 to 6 with the paper's numbers below ours, shares of interventions, gains of records."""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from markupsafe import Markup

from vanishing_variance.claims.verdict import shown
from vanishing_variance.harness.numbers import MISSING, drawn_power, estimate
from vanishing_variance.harness.runs import ABLATIONS, TASKS
from vanishing_variance.measure.interventions.names import FORMS, TARGET, damaged, restored
from vanishing_variance.report.strongest import Claims
from vanishing_variance.report.verdicts import ours, papers
from vanishing_variance.results.accuracy import rows
from vanishing_variance.results.tables import TITLES

# Names on the page of interventions.
SHARES = {
    **{TARGET: "target", restored("global"): "global", restored("feature"): "feature", damaged("feature"): "damaged"},
    "target weight (feature moments)": "target_shapley",
    **{f"moments ({form} moments)": f"{form}_shapley" for form in FORMS},
}


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


def shares(interventions: pd.DataFrame) -> dict[str, dict[str, str]]:
    """Return the shares of the lost accuracy, without a normaliser and over all lengths beyond training, as text.

    By SHARES and task. `interventions`: `results.shares.shares`.
    """
    models = rows(interventions, norm="none", range_="short")
    beyond = models[models["length"].isna() & (models["where"] != "after")]  # without a normaliser after is before
    columns = ["intervention", "task", "share", "share_low", "share_high"]
    found = {name: dict.fromkeys(TASKS, MISSING) for name in SHARES.values()}
    for intervention, task, *values in beyond[columns].to_numpy():
        if intervention in SHARES:
            percent = [100 * value for value in values]
            found[SHARES[intervention]][task] = estimate("z.0f", *percent, unit="%")
    return found


def at_longest(means: pd.DataFrame, treatment: str) -> dict[str, pd.Series]:
    """Return by task the row of `results.answer` of a treatment at the longest length."""
    longest = rows(means, treatment=treatment, length=means["length"].max())
    return {row["task"]: row for _, row in longest.iterrows()}


def gains(records: Mapping[str, Claims]) -> Markup:
    """Return our gains in accuracy: a row a claim, a column a record, the last one the paper's."""
    first, *_ = records.values()
    names = {key: claim["claim"] for key, claim in first.items() if claim["unit"] == "pp"}
    table = pd.DataFrame(index=list(names))
    for name, record in records.items():
        table[name] = pd.Series(record).map(_gain)
    table["paper’s"] = pd.Series(first).map(papers)
    return _html(table.fillna(MISSING).rename(index=names))


def _gain(claim: Mapping[str, Any]) -> str:
    return f"{ours(claim)}, n\u00a0=\u00a0{claim['n']}: {shown(claim)}" if claim["n"] else MISSING


def _html(table: pd.DataFrame) -> Markup:
    table.columns.name = table.index.name = None
    return Markup(table.to_html(border=0))  # noqa: S704 -- pandas escapes the cells
