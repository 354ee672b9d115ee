"""Tables 1 to 6 as cells: ours, the paper's, and how far apart they are."""

from collections.abc import Mapping

import pandas as pd

from vanishing_variance.harness.markdown import power
from vanishing_variance.harness.runs import ABLATIONS, PAPER_TABLES
from vanishing_variance.report.cells import Cell, Row, Table, shaded
from vanishing_variance.report.formats import interval, number, raised
from vanishing_variance.results.scale import of_paper

TEMPERATURES = {
    "plain": "plain softmax",
    "adaptive": "adaptive temperature, as published",
    "fitted": "adaptive temperature, fitted to our models with labels at these lengths",
}
CORNER = "length N (items)"
POWER = (
    "Wilcoxon's p is of the signed ranks. Seeds for 90% power: so many would a difference of this size need for p < "
    "0.05 in nine of ten studies."
)


# Tables by number, of metrics/tables/table<number>.csv.
Numbered = Mapping[int, pd.DataFrame]
# By name, the column of a table and Python's format of its numbers.
Wanted = Mapping[str, tuple[str, str]]
COMPARISON = {"d_z": ("d_z", "+.2f"), "p": ("p", ".2g"), "p, Holm": ("p_holm", ".2g")}
FOLDED = {"p, Wilcoxon": ("p_wilcoxon", ".2g"), "seeds for 90% power": ("seeds_for_power", ".0f")}


def tables(found: Numbered, norm: str, steps: Mapping[tuple[str, str], int], anchor: str = "table") -> list[Table]:
    """Return the paper's tables; `norm`: the treatment; `steps` that were made.

    All are shaded alike: fully at the largest difference from the paper in any of them.
    """
    apart = [_apart(of, name).abs().max() for of in found.values() for name in map(str, of) if name != "p"]
    scale = pd.Series(apart, dtype=float).max()
    return [_table(number, found[number], norm, steps[PAPER_TABLES[number]], scale, anchor) for number in sorted(found)]


def _table(number: int, of: pd.DataFrame, norm: str, steps: int, scale: float, anchor: str) -> Table:
    lengths = sorted({int(length) for length in of["length"]})
    parts = {name: of[of["temperature"] == name].set_index("length").reindex(lengths) for name in TEMPERATURES}
    if number in ABLATIONS:
        title, ours, heading = "gain over none (percentage points)", parts["plain"], "ln against std"
        gains = {f"gain of {name}": (f"gain_{name}", "+.2f") for name in dict.fromkeys(("std", "ln", norm))}
        groups = {
            "gain over none": [*_rows(ours, gains), *_beside(ours, gains, scale)],
            heading: [*_comparison(ours), *_beside(ours, {"p": ("p", ".1g")}, scale)],
        }
        folded = {heading: _rows(ours, FOLDED)}
    else:
        title, variants = f"accuracy (%), none against {norm}", {"none": ("none", ".1f"), f"+ {norm}": (norm, ".1f")}
        groups, folded = {}, {}
        for temperature, heading in TEMPERATURES.items():
            ours = parts[temperature]
            beside = _beside(ours, {**variants, "p": ("p", ".1g")}, scale)
            groups[heading] = [*_rows(ours, variants), *_comparison(ours), *beside]
            folded[heading] = _rows(ours, FOLDED)
    is_shaded = any(cell.side for rows in groups.values() for _, cells in rows for cell in cells)
    task, range_ = PAPER_TABLES[number]
    name = f"Table {number}. {task}, trained on the {range_} range: {title}, after {of_paper(task, steps)}"
    anchor, head = f"{anchor}{number}", [raised(power(length)) for length in lengths]
    below = Table(f"{anchor}-folded", "Wilcoxon’s test, and power", POWER, head, list(folded.items()), corner=CORNER)
    return Table(anchor, name, _note(of), head, list(groups.items()), scale if is_shaded else 0.0, CORNER, below)


def _rows(of: pd.DataFrame, wanted: Wanted) -> list[Row]:
    return [(name, [Cell(number(value, how)) for value in of[column]]) for name, (column, how) in wanted.items()]


def _beside(of: pd.DataFrame, wanted: Wanted, scale: float) -> list[Row]:
    """Return the paper's numbers, as far as it has them, and then how far ours are from them."""
    papers = {f"paper: {name}": (f"paper_{column}", how) for name, (column, how) in wanted.items()}
    theirs = {name: one for name, one in papers.items() if one[0] in of and of[one[0]].notna().any()}
    apart = {name: _apart(of, column) for name, (column, _) in wanted.items() if column != "p"}
    differences = {f"ours − paper: {name}": values for name, values in apart.items() if values.notna().any()}
    return [
        *_rows(of, theirs),
        *((name, [shaded(one, scale) for one in values]) for name, values in differences.items()),
    ]


def _apart(of: pd.DataFrame, column: str) -> pd.Series:
    """Return ours minus the paper's; nothing where the paper has no such column."""
    return of[column] - of[f"paper_{column}"] if f"paper_{column}" in of else pd.Series(dtype=float)


def _comparison(ours: pd.DataFrame) -> list[Row]:
    bounds = [Cell(interval(low, high, "+.1f")) for low, high in zip(ours["low"], ours["high"], strict=True)]
    difference = _rows(ours, {"difference (pp)": ("difference", "+.2f")})
    return [*difference, ("95% interval", bounds), *_rows(ours, COMPARISON)]


def _note(tests: pd.DataFrame) -> str:
    """Return the note below a table: n, the interval, the tests, and why a p-value is missing."""
    seeds = ", ".join(str(n) for n in sorted(tests["n"].unique()))
    missing = tests[tests["p"].isna() & tests["note"].notna()]
    where = zip(missing["temperature"], missing["length"], missing["note"], strict=True)
    reasons = "; ".join(f"{temperature}, length {length}: {note}" for temperature, length, note in where)
    text = (
        f"Means over n = {seeds} seeds; the paper's are over 100. The interval is the 95% t interval of our mean "
        "paired difference, and d_z is that over the standard deviation of the differences. p is of the two-sided "
        "paired t-test over seeds, Holm's corrected for the lengths."
    )
    return f"{text} Not computed: {reasons}." if reasons else text
