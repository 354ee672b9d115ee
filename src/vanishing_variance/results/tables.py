"""Tables 1 to 6: ours, and the paper's numbers beside them where the comparison is the paper's."""

import pandas as pd

from vanishing_variance.harness.numbers import MISSING, estimate, power, table
from vanishing_variance.results.arms import BEYOND, LENGTHS
from vanishing_variance.results.columns import rows
from vanishing_variance.results.comparison import KEYS, spread
from vanishing_variance.results.paired import OF_ANSWERS
from vanishing_variance.results.runs import ABLATIONS, PAPER_TABLES, line_of

TESTED = ("line_accuracy", "baseline_accuracy", "difference", "d_z", "p", *OF_ANSWERS)
WANTED = [(name, LENGTHS) for name in TESTED]
COLUMNS = [*KEYS, "length", "line_mean", "line_low", "line_high", "baseline_mean", "baseline_low", "baseline_high"]
COLUMNS += ["n", "difference", "low", "high", "d_z", "p", *OF_ANSWERS, "p_holm"]
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


def tests(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the paired tests of a comparison, COLUMNS: a row a task, line, baseline, rule and length.

    Means in percent and differences in percentage points, each with its 95% t interval; `n` seeds that both lines have;
    `p_holm`, p corrected over the lengths of one rule (one row of a table); `se`, the standard error of the difference
    with what the shared test sequences add to it, and of its square the shares of seeds, sequences and both.
    """
    at_lengths = frame[frame["scope"] != BEYOND]
    found = spread(at_lengths[at_lengths["statistic"].isin([*TESTED, "p_holm"])], "scope")
    names = {"scope": "length", "difference_low": "low", "difference_high": "high", "difference_n": "n"}
    for name in ("line", "baseline"):
        names |= {f"{name}_accuracy": f"{name}_mean"}
        names |= {f"{name}_accuracy_{end}": f"{name}_{end}" for end in ("low", "high")}
    return found.rename(columns=names).reindex(columns=COLUMNS).astype({"length": int, "n": int})


def numbers(tests: pd.DataFrame, norm: str, paper: pd.DataFrame) -> dict[int, pd.DataFrame]:
    """Return the numbers of the paper's tables, by number, of the pairs that are there.

    A row a rule and length: the columns of `tests`; the mean accuracies, `mean_<norm>`, or in Tables 3 and 6
    `gain_<norm>` over none of `n_<norm>` seeds; the paper's numbers, `paper_<name>`, where the comparison is
    the paper's.
    """
    found = {}
    for number, (task, range_) in PAPER_TABLES.items():
        models = rows(tests, task=task)
        tested = set(zip(models["line"], models["baseline"], strict=True))
        line, none = (line_of(name, range_) for name in (norm, "none"))
        ablation = [("std", none), ("ln", none), (line, none), ("ln", "std")]
        if tested.issuperset(ablation if number in ABLATIONS else [(line, none)]):
            if number in ABLATIONS:
                ours = _ablation(models, norm)
            else:
                ours = rows(models, line=line, baseline=none)
                ours = ours.rename(columns={"baseline_mean": "mean_none", "line_mean": f"mean_{norm}"})
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
            lines.append([f"**{title}, n = {seeds(ours)}**", *[""] * len(lengths)])
        for name, how, columns in table_rows(number, norm):
            texts = [estimate(how, *values) for values in ours[columns].to_numpy()]
            if set(texts) - {MISSING}:
                lines.append([name, *texts])
    notes = [NOTE]
    if numbers["p"].isna().any():
        notes.append("Of one seed, or of equal differences, there is no p-value.")
    title = f"Table {number}. {task}, trained on the {range_} range: {shown}, after {made}"
    body = table(["", *map(power, lengths)], lines)
    return f"## {title}\n\n{body}\n\n{' '.join(notes)}\n"


def seeds(numbers: pd.DataFrame) -> str:
    """Return the number of seeds of some of `numbers`; from the fewest to the most, where pairs have not the same."""
    counts = numbers.filter(regex="^n(_|$)")
    return "–".join(f"{count:.0f}" for count in dict.fromkeys((counts.min().min(), counts.max().max())))


def table_rows(number: int, norm: str) -> list[tuple[str, str, list[str]]]:
    """Return the rows of a table: name, format, and the column, or those of an estimate with its interval."""
    ours = [("none", ".1f", ["mean_none"]), (f"+ {norm}", ".1f", [f"mean_{norm}"])]
    paper = [("paper: none", ".1f", ["paper_mean_none"]), (f"paper: + {norm}", ".1f", [f"paper_mean_{norm}"])]
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
    table = rows(last, line="ln", baseline="std")
    for name in ("std", "ln", norm):
        gains = rows(last, line=name, baseline="none")
        table[f"gain_{name}"] = gains["difference"].to_numpy()
        table[f"n_{name}"] = gains["n"].to_numpy()
    return table


def _paper(paper: pd.DataFrame, number: int, norm: str) -> pd.DataFrame:
    """Return the paper's numbers of a table: rule, length, and `paper_<name>` of what it has.

    The paper has `last` and `adaptive`, in Tables 4 and 5 `last` alone, and of other treatments than `ln` nothing
    but their baseline; its ablations compare `ln` with `std`, whatever the treatment is.
    """
    _, range_ = PAPER_TABLES[number]
    line, none = (line_of(name, range_) for name in (norm, "none"))
    wanted = {"mean_none": (none, "accuracy"), f"mean_{norm}": (line, "accuracy"), "p": (line, "p")}
    if number in ABLATIONS:
        wanted = {"gain_std": ("std", "difference"), "p": ("ln", "p")}
    table = rows(paper, table=number).set_index(["rule", "length"])
    columns = {}
    for name, (line, statistic) in wanted.items():
        columns[f"paper_{name}"] = rows(table, line=line, statistic=statistic)["value"]
    return pd.DataFrame(columns).rename_axis(["rule", "length"]).reset_index()
