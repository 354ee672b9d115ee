"""Tables 1 to 6: ours, and the paper's numbers beside them where the comparison is the paper's."""

import pandas as pd

from vanishing_variance.harness.markdown import table
from vanishing_variance.harness.numbers import MISSING, estimate, power
from vanishing_variance.results.accuracy import rows
from vanishing_variance.results.runs import ABLATIONS, PAPER_TABLES, compared

# Of the rules.
TITLES = {
    "last": "without test-time adaptation",
    "adaptive": "with the adaptive temperature",
    "hard": "with all attention on the largest logit",
    "averaged": "with the weights averaged over the last part of training",
}
NOTE = (
    "Means over seeds, n of the tested pair; the difference has its 95% t interval. p is of the paired t-test over "
    "seeds, two-sided; Holm corrects it over the lengths of a row. All seeds have the same test sequences, "
    "and no test over seeds sees what these add to the uncertainty. The paper's numbers are means over 100 seeds. "
    "Further tests are in tests.csv."
)


def numbers(tests: pd.DataFrame, norm: str, paper: pd.DataFrame) -> dict[int, pd.DataFrame]:
    """Return the numbers of the paper's tables, by number, of the pairs that are there.

    A row a rule and length: the columns of `paired_tests`; the mean accuracies under the variants' names, or
    `gain_<norm>` over none in Tables 3 and 6; the paper's numbers, `paper_<name>`, where the comparison is the paper's.
    """
    found = {}
    for number, (task, range_) in PAPER_TABLES.items():
        models = rows(tests, task=task, range_=range_)
        tested = set(zip(models["treatment"], models["baseline"], strict=True))
        needed = compared(range_, norm) if number in ABLATIONS else [(norm, "none")]
        if tested.issuperset(needed):
            if number in ABLATIONS:
                ours = _ablation(models, norm)
            else:
                ours = rows(models, treatment=norm, baseline="none")
                ours = ours.rename(columns={"baseline_mean": "none", "treatment_mean": norm})
            found[number] = ours.merge(_paper(paper, number, norm), how="left")
    return found


def markdown(number: int, numbers: pd.DataFrame, norm: str, made: str) -> str:
    """Return one of `numbers` as Markdown, a column a length; `made`: its gradient steps, in words."""
    task, range_ = PAPER_TABLES[number]
    shown = "gain over none, in percentage points" if number in ABLATIONS else f"accuracy (%), none against {norm}"
    lengths = sorted(numbers["length"].unique())
    lines = []
    for rule, title in TITLES.items():
        ours = rows(numbers, rule=rule)
        if len(ours):
            lines.append([f"**{title}, n = {ours['n'].max()}**", *[""] * len(lengths)])
        for name, how, columns in table_rows(number, norm):
            texts = [estimate(how, *values) for values in ours[columns].to_numpy()]
            if set(texts) - {MISSING}:
                lines.append([name, *texts])
    notes = [NOTE]
    if numbers["p"].isna().any():
        notes.append("Of one seed there is no p-value.")
    title = f"Table {number}. {task}, trained on the {range_} range: {shown}, after {made}"
    body = table(["", *map(power, lengths)], lines)
    return f"## {title}\n\n{body}\n\n{' '.join(notes)}\n"


def table_rows(number: int, norm: str) -> list[tuple[str, str, list[str]]]:
    """Return the rows of a table: name, format, and the column, or those of an estimate with its interval."""
    ours = [("none", ".1f", ["none"]), (f"+ {norm}", ".1f", [norm])]
    paper = [("paper: none", ".1f", ["paper_none"]), (f"paper: + {norm}", ".1f", [f"paper_{norm}"])]
    difference = f"{norm} − none (pp)"
    if number in ABLATIONS:
        names = dict.fromkeys(("std", "ln", norm))
        ours = [(f"gain of {name} (pp)", "+.2f", [f"gain_{name}"]) for name in names]
        paper = [("paper: gain of std (pp)", "+.2f", ["paper_gain_std"])]
        difference = "ln − std (pp)"
    return [
        *ours,
        (difference, "+.2f", ["difference", "low", "high"]),
        ("d_z", "+.2f", ["d_z"]),
        ("p", ".2g", ["p"]),
        ("p, Holm", ".2g", ["p_holm"]),
        *paper,
        ("paper: p", ".0e", ["paper_p"]),
    ]


def _ablation(tests: pd.DataFrame, norm: str) -> pd.DataFrame:
    """Return Table 3 or 6: the test of `ln` against `std`, and what these and the treatment gain over `none`."""
    last = rows(tests, rule="last")
    table = rows(last, treatment="ln", baseline="std")
    for name in ("std", "ln", norm):
        gains = rows(last, treatment=name, baseline="none")
        table[f"gain_{name}"] = gains["difference"].to_numpy()
    return table


def _paper(paper: pd.DataFrame, number: int, norm: str) -> pd.DataFrame:
    """Return the paper's numbers of a table: rule, length, and `paper_<name>` of what it has.

    The paper has `last` and `adaptive`, in Tables 4 and 5 `last` alone, and of other treatments than `ln` nothing
    but their baseline; its ablations compare `ln` with `std`, whatever the treatment is.
    """
    names = {"none": "none", norm: norm, f"{norm}_vs_none": "p"}
    if number in ABLATIONS:
        names = {"std": "gain_std", "ln_vs_std": "p"}
    table = rows(paper, table=number)
    table = table[table["variant"].isin(list(names))]
    wide = table.pivot(index=["rule", "length"], columns="variant", values="value")
    return wide.reindex(columns=list(names)).rename(columns=names).add_prefix("paper_").reset_index()
