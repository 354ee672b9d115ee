"""Tables 1 to 6 as cells: ours, the paper's, and how far apart they are."""

from collections.abc import Mapping
from dataclasses import dataclass

import pandas as pd

from vanishing_variance.report.cells import Cell, Row, Table, numbers, shaded
from vanishing_variance.report.formats import interval, power
from vanishing_variance.study.scale import of_paper

# The paper's tables: of accuracies by task and range, and of ablations, all on the short range, by task.
ACCURACIES = {1: ("argmax", "short"), 2: ("dictionary", "short"), 4: ("argmax", "long"), 5: ("dictionary", "long")}
ABLATIONS = {3: "argmax", 6: "dictionary"}
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


def tables(tests: pd.DataFrame, paper: pd.DataFrame, norm: str, steps: Mapping[tuple[str, str], int]) -> list[Table]:
    """Return Tables 1 to 6, of what was tested.

    `tests` and `paper`: the frames of metrics/tables; `norm`: the treatment; `steps`, by task and range.
    All are shaded alike: fully at the largest difference from the paper in any of them.
    """
    scale = paper["difference"].abs().max()
    sources = {one: _Sources(one, *of, steps[of], tests, paper, scale) for one, of in ACCURACIES.items()}
    made = {one: _accuracies(of, norm) for one, of in sources.items()}
    ablated = {one: (task, "short") for one, task in ABLATIONS.items()}
    made |= {one: _ablation(_Sources(one, *of, steps[of], tests, paper, scale), norm) for one, of in ablated.items()}
    return [table for _, table in sorted(made.items()) if table.head]


@dataclass(frozen=True)
class _Sources:
    """Sources of one table."""

    number: int
    task: str
    range: str
    steps: int
    tests: pd.DataFrame
    paper: pd.DataFrame
    scale: float

    def compared(self, treatment: str, baseline: str) -> pd.DataFrame:
        """Return our tests of one pair."""
        return _where(self.tests, task=self.task, range=self.range, treatment=treatment, baseline=baseline)

    def paper_rows(self, temperature: str, wanted: Mapping[str, tuple[str, str, str]], lengths: pd.Index) -> list[Row]:
        """Return the paper's numbers, as far as it has them, and then how far ours are from them.

        `wanted`: the row's name -> variant and quantity of metrics/tables/paper.csv, and Python's format.
        """
        theirs, apart = [], []
        for name, (variant, quantity, how) in wanted.items():
            of = _where(self.paper, table=self.number, temperature=temperature, variant=variant, quantity=quantity)
            of = of.set_index("length").reindex(lengths)
            if of["paper"].notna().any():
                theirs.append(Row(f"paper: {name}", numbers(of["paper"], how)))
            if of["difference"].notna().any():
                apart.append(Row(f"ours − paper: {name}", [shaded(one, self.scale) for one in of["difference"]]))
        return theirs + apart

    def table(
        self, title: str, groups: Mapping[str, list[Row]], few: Mapping[str, list[Row]], tests: pd.DataFrame
    ) -> Table:
        """Return the table, the rows that few need folded, with a note on `tests`; its lengths are theirs."""
        is_shaded = any(cell.side for rows in groups.values() for row in rows for cell in row.cells)
        head = [power(length) for length in _lengths(tests)]
        name = f"Table {self.number}. {self.task}, trained on the {self.range} range: {title}, "
        name += f"after {of_paper(self.task, self.steps)}"
        anchor, scale = f"table{self.number}", self.scale if is_shaded else 0.0
        folded = Table(f"{anchor}-folded", "Wilcoxon’s test, and power", POWER, head, list(few.items()), corner=CORNER)
        return Table(anchor, name, _note(tests), head, list(groups.items()), scale, CORNER, folded)


def _accuracies(of: _Sources, norm: str) -> Table:
    """Return Table 1, 2, 4 or 5: the treatment against `none`, at every temperature."""
    tests = of.compared(norm, "none")
    groups, few = {}, {}
    for temperature, title in TEMPERATURES.items():
        ours = _where(tests, temperature=temperature).set_index("length").reindex(_lengths(tests))
        rows = [Row("none", numbers(ours["baseline_mean"], ".1f"))]
        rows += [Row(f"+ {norm}", numbers(ours["treatment_mean"], ".1f")), *_comparison(ours)]
        wanted = {name: (variant, "accuracy_pct", ".1f") for name, variant in (("none", "none"), (f"+ {norm}", norm))}
        wanted["p"] = (f"{norm}_vs_none", "p_value", ".1g")
        rows += of.paper_rows(temperature, wanted, ours.index)
        groups[title], few[title] = rows, _power(ours)
    return of.table(f"accuracy (%), none against {norm}", groups, few, tests)


def _ablation(of: _Sources, norm: str) -> Table:
    """Return Table 3 or 6: what `std`, `ln` and the treatment gain over `none`, and `ln` over `std`; plain softmax."""
    tests = _where(of.compared("ln", "std"), temperature="plain")
    ours = tests.set_index("length").sort_index()
    gains = []
    for one in dict.fromkeys(("std", "ln", norm)):
        over_none = _where(of.compared(one, "none"), temperature="plain").set_index("length").reindex(ours.index)
        gains.append(Row(f"gain of {one}", numbers(over_none["difference"], "+.2f")))
    gains += of.paper_rows("plain", {"gain of std": ("std", "gain_over_none_pct", "+.2f")}, ours.index)
    against = [*_comparison(ours), *of.paper_rows("plain", {"p": ("ln_vs_std", "p_value", ".1g")}, ours.index)]
    groups, few = {"gain over none": gains, "ln against std": against}, {"ln against std": _power(ours)}
    return of.table("gain over none (percentage points)", groups, few, tests)


def _where(frame: pd.DataFrame, **chosen: str | int) -> pd.DataFrame:
    for column, value in chosen.items():
        frame = frame[frame[column] == value]
    return frame


def _lengths(tests: pd.DataFrame) -> list[int]:
    return sorted({int(length) for length in tests["length"]})


def _comparison(ours: pd.DataFrame) -> list[Row]:
    bounds = zip(ours["low"], ours["high"], strict=True)
    return [
        Row("difference (pp)", numbers(ours["difference"], "+.2f")),
        Row("95% interval", [Cell(interval(low, high, "+.1f")) for low, high in bounds]),
        Row("d_z", numbers(ours["d_z"], "+.2f")),
        Row("p", numbers(ours["p"], ".2g")),
        Row("p, Holm", numbers(ours["p_holm"], ".2g")),
    ]


def _power(ours: pd.DataFrame) -> list[Row]:
    return [
        Row("p, Wilcoxon", numbers(ours["p_wilcoxon"], ".2g")),
        Row("seeds for 90% power", numbers(ours["seeds_for_power"], ".0f")),
    ]


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
