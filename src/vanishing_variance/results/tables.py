"""Tables 1 to 6: ours, and the paper's numbers beside them where the comparison is the paper's.

A table is made once as text cells, and written as Markdown and as LaTeX; its numbers go to CSV in full.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pandas as pd

from vanishing_variance.harness.markdown import MISSING, power, table
from vanishing_variance.harness.runs import ABLATIONS, PAPER_TABLES, compared
from vanishing_variance.results.paired_tests import select
from vanishing_variance.results.scale import of_paper

SEQUENCES = "uncertainty from test sequences (%)"
TITLES = {
    "plain": "without test-time adaptation",
    "adaptive": "with the adaptive temperature",
    "fitted": "with the adaptive temperature fitted to our models, which uses labels at these lengths",
}


@dataclass(frozen=True)
class Table:
    """Titled rows of text, one column a length; a row with a name alone is a heading. `numbers` is tidy."""

    title: str
    note: str
    lengths: Sequence[int]
    rows: Sequence[tuple[str, Sequence[str]]]
    numbers: pd.DataFrame

    def markdown(self) -> str:
        """Return the table as Markdown, powers of two as such."""
        head = ["", *(power(length) for length in self.lengths)]
        blank = [""] * len(self.lengths)
        rows = ([name if cells else f"**{name}**", *(cells or blank)] for name, cells in self.rows)
        return "\n".join([f"# {self.title}", "", *table(head, rows), "", self.note, ""])

    def latex(self) -> str:
        """Return the table as a LaTeX `table` with booktabs' rules."""
        width = len(self.lengths) + 1
        lines = [r"\begin{table}", rf"\caption{{{_escaped(self.title)}. {_escaped(self.note)}}}", r"\centering"]
        lines += [rf"\begin{{tabular}}{{l{'r' * len(self.lengths)}}}", r"\toprule"]
        lines += [" & ".join(["", *(power(length, "$2^{{{}}}$") for length in self.lengths)]) + r" \\", r"\midrule"]
        for name, cells in self.rows:
            if cells:
                lines.append(" & ".join(map(_escaped, [name, *cells])) + r" \\")
            else:
                lines.append(rf"\multicolumn{{{width}}}{{l}}{{\textit{{{_escaped(name)}}}}} \\")
        return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}", ""])


def tables(
    tests: pd.DataFrame, norm: str, paper: pd.DataFrame, steps: Mapping[tuple[str, str], int]
) -> dict[int, Table]:
    """Return the paper's tables by number, of the pairs that are there; titles say the `steps`, by task and range."""
    pairs = set(tests[["task", "range", "treatment", "baseline"]].itertuples(index=False, name=None))
    made = {}
    for number, (task, range_) in PAPER_TABLES.items():
        made_of, wanted = accuracy_table, [(norm, "none")]
        if number in ABLATIONS:
            made_of, wanted = ablation_table, compared(range_, norm)
        if {(task, range_, *pair) for pair in wanted} <= pairs:
            one = made_of(number, tests, norm, paper)
            made[number] = replace(one, title=f"{one.title}, after {of_paper(task, steps[task, range_])}")
    return made


def accuracy_table(number: int, tests: pd.DataFrame, norm: str, paper: pd.DataFrame) -> Table:
    """Return Table 1, 2, 4 or 5: the treatment against `none`, at every temperature.

    The paper's numbers stand beside `ln`. The paper has not the third temperature, nor the second in Tables 4 and 5.
    """
    task, range_ = PAPER_TABLES[number]
    numbers = _numbers(select(tests, task, range_, norm, "none"), norm, "none")
    numbers = numbers.merge(_paper(paper, number, {"none": "none", norm: norm, f"{norm}_vs_none": "p"}), how="left")
    rows: list[tuple[str, list[str]]] = []
    for temperature, title in TITLES.items():
        of = numbers[numbers["temperature"] == temperature]
        if of.empty:
            continue
        fewer = f", n = {_seeds(of)} seeds" if _seeds(of) < _seeds(numbers) else ""
        rows += [(title + fewer, []), ("none", _cells(of, "none", ".1f")), (f"+ {norm}", _cells(of, norm, ".1f"))]
        rows += _comparison_rows(of)
        if norm == "ln" and of["paper_p"].notna().any():
            rows += [("paper: none", _cells(of, "paper_none", ".1f")), ("paper: + ln", _cells(of, "paper_ln", ".1f"))]
            rows += [("paper: p", _cells(of, "paper_p", ".0e"))]
    title = f"Table {number}. {task}, trained on the {range_} range: accuracy (%), none against {norm}"
    return Table(title, _note(numbers, beside=norm == "ln"), sorted(numbers["length"].unique()), rows, numbers)


def ablation_table(number: int, tests: pd.DataFrame, norm: str, paper: pd.DataFrame) -> Table:
    """Return Table 3 or 6: what `std` and `ln` (and the treatment) gain over `none`.

    The test compares `ln` with `std` whatever the treatment is, so the paper's numbers always stand beside it.
    """
    task, range_ = PAPER_TABLES[number]
    numbers = _numbers(select(tests, task, range_, "ln", "std").query("temperature == 'plain'"), "ln", "std")
    names = dict.fromkeys(("std", "ln", norm), "")
    for name in names:
        gain = select(tests, task, range_, name, "none").query("temperature == 'plain'")
        numbers = numbers.assign(**{f"gain_{name}": gain["difference"].to_numpy()})
        names[name] = f", n = {_seeds(gain)} seeds" if _seeds(gain) != _seeds(numbers) else ""
    numbers = numbers.merge(_paper(paper, number, {"std": "gain_std", "ln_vs_std": "p"}), how="left")
    rows = [(f"gain of {name} (pp){n}", _cells(numbers, f"gain_{name}", "+.2f")) for name, n in names.items()]
    rows += [("ln against std", []), *_comparison_rows(numbers), ("paper", [])]
    if numbers["paper_gain_std"].notna().any():
        rows.append(("gain of std (pp)", _cells(numbers, "paper_gain_std", "+.2f")))
    rows.append(("p, ln against std", _cells(numbers, "paper_p", ".0e")))
    title = f"Table {number}. {task}, trained on the {range_} range: gain over none, in percentage points"
    return Table(title, _note(numbers, beside=True), sorted(numbers["length"].unique()), rows, numbers)


def _comparison_rows(of: pd.DataFrame) -> list[tuple[str, list[str]]]:
    bounds = zip(_cells(of, "low", "+.1f"), _cells(of, "high", "+.1f"), strict=True)
    bootstrap = zip(_cells(of, "boot_low", "+.1f"), _cells(of, "boot_high", "+.1f"), strict=True)
    return [
        ("difference (pp)", _cells(of, "difference", "+.2f")),
        ("95% interval", [f"{low}, {high}" for low, high in bounds]),
        ("95% interval, bootstrap", [f"{low}, {high}" for low, high in bootstrap]),
        ("d_z", _cells(of, "d_z", "+.2f")),
        ("p", _cells(of, "p", ".2g")),
        ("p, Holm", _cells(of, "p_holm", ".2g")),
        ("p, Wilcoxon", _cells(of, "p_wilcoxon", ".2g")),
        ("seeds for 90% power", _cells(of, "seeds_for_power", ".0f")),
        *([(SEQUENCES, _cells(of.assign(share=of["share_sequences"] * 100), "share", ".0f"))] if _answered(of) else []),
    ]


def _answered(of: pd.DataFrame) -> bool:
    """Return whether the answers to every sequence are known; a record keeps accuracies alone."""
    return bool(of["share_sequences"].notna().any())


def _numbers(tests: pd.DataFrame, treatment: str, baseline: str) -> pd.DataFrame:
    """Return the tests of one table, with the mean accuracies under the variants' names."""
    columns = tests.drop(columns=["task", "range", "treatment", "baseline"])
    return columns.rename(columns={"baseline_mean": baseline, "treatment_mean": treatment})


def _paper(paper: pd.DataFrame, table: int, columns: dict[str, str]) -> pd.DataFrame:
    """Return the paper's numbers of one table: temperature, length, and `paper_<column>` for each of its variants."""
    of = paper[(paper["table"] == table) & paper["variant"].isin(list(columns))]
    wide = of.pivot(index=["temperature", "length"], columns="variant", values="value")
    return (
        wide.reindex(columns=list(columns))
        .set_axis([f"paper_{name}" for name in columns.values()], axis=1)
        .reset_index()
    )


def _note(numbers: pd.DataFrame, beside: bool) -> str:
    """Return the note below a table: n, the test, and why a p-value is missing; `beside` the paper's numbers."""
    seeds = _seeds(numbers)
    fewer = " where no other n stands" if numbers["n"].min() < seeds else ""
    text = (
        f"Means over n = {seeds} seeds{fewer}; paired t-test over seeds, two-sided; the intervals are those of the "
        "mean paired difference, by t and by the bias-corrected and accelerated bootstrap; d_z is the mean difference "
        "over the standard deviation of the differences; Holm corrects p over the lengths of one temperature; "
        f"Wilcoxon's signed-rank test cannot go below {2.0 ** (1 - seeds):.2g} with n = {seeds}; so many seeds would a "
        "difference of this size need for p < 0.05 in nine of ten studies. All seeds are tested on the same sequences, "
        "and what these add to the uncertainty no test over seeds sees"
        + (f": “{SEQUENCES}” is their share of its square." if _answered(numbers) else ".")
    )
    missing = numbers[numbers["p"].isna()]
    where = zip(missing["temperature"], missing["length"], missing["note"], strict=True)
    reasons = [f"{temperature} {power(int(length))}: {note}" for temperature, length, note in where]
    paper = " The paper's numbers are means over 100 seeds." if beside else ""
    fitted = (
        " The last temperature is ours: its polynomial is fitted to the mistakes of other models of the same variant "
        "(one half of a block of seeds for the other), on labelled sequences of these lengths, none of them tested."
        if (numbers["temperature"] == "fitted").any()
        else ""
    )
    return f"{text}{paper}{fitted}" + (f" No p-value: {'; '.join(reasons)}." if reasons else "")


def _seeds(numbers: pd.DataFrame) -> int:
    """Return the largest number of seeds of a test; a record's oldest pieces have not every temperature."""
    return int(numbers["n"].max())


def _cells(of: pd.DataFrame, column: str, how: str) -> list[str]:
    return [MISSING if pd.isna(value) else format(value, how) for value in of[column]]


def _escaped(text: str) -> str:
    for character in "%_&#$":
        text = text.replace(character, f"\\{character}")
    return text.replace("^", r"\textasciicircum{}").replace(MISSING, "--")
