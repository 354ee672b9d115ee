"""Tables of the parts of the answers by line, and of gains by part, as Markdown."""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import pandas as pd

from vanishing_variance.harness.numbers import power, table_of
from vanishing_variance.measure.parts import PARTS, WRONG
from vanishing_variance.results.arms import BEYOND, LENGTHS, SHOWN, Scope
from vanishing_variance.results.columns import LAST, rows
from vanishing_variance.results.comparison import Columns, compare, estimates, head, view
from vanishing_variance.results.paired import GAINED
from vanishing_variance.results.schema import without_diverged

# Rules whose weights differ; the adaptive temperature has lines of its own, since it gains over its own models.
RULES = (LAST, "averaged")
ADAPTED = " θ"
OF_LINE = ("accuracy", *PARTS)
OF_PAIR = ("difference", *(f"{GAINED}{name}" for name in WRONG))
NOTE = (
    "Parts of all answers (%), with 95% t intervals over n seeds. *Misranked*: wrong, and another item has more "
    "attention than the target. *Diluted*: wrong though the target has the most, and right with all attention on it. "
    "*Misread*: wrong then, too. *Right though misranked* is a part of the accuracy. *θ*: tested with the adaptive "
    "temperature. *Beyond*: the mean over the lengths beyond training. This counts, and shows no cause."
)
NOTE_OF_GAINS = (
    "The gain of a line over its baseline, paired by seed, in percentage points, and by how many points fewer of its "
    "answers are in each wrong part: these add up to the gain."
)
NOTE_OF_FIRST = (
    "Here not exactly: of several heads, and of other networks, parts are of the first sequences of a length, "
    "accuracies and gains of all. *Misread* has also answers that attend most to their own token, or to nothing."
)


def parts(
    tested: pd.DataFrame, pairs: Iterable[tuple[str, str]], longest: Mapping[str, int], sequences: int
) -> str | None:
    """Return the parts of the answers of lines, and the gains of `pairs` in each, as Markdown; none if not measured.

    `tested`: results by rule; `longest`: the longest training length by line; each accuracy is of so many `sequences`.
    """
    measured = with_parts(tested)
    if measured.empty:
        return None
    adapted = rows(measured, rule="adaptive")
    adapted = adapted.assign(rule=LAST, line=adapted["line"] + ADAPTED)
    with_adapted = pd.concat([measured, adapted])
    longest = {**longest, **{f"{line}{ADAPTED}": items for line, items in longest.items()}}
    lines = with_adapted["line"].unique()
    gains = [*pairs, *((line, line.removesuffix(ADAPTED)) for line in adapted["line"].unique())]
    wanted = [(name, scope) for name in (*OF_LINE, *OF_PAIR) for scope in (LENGTHS, BEYOND)]
    alone = ((line, "") for line in lines)
    frame = compare(with_adapted, [*alone, *gains], longest, sequences, wanted, RULES)
    of_lines, of_pairs = frame[frame["baseline"] == ""], frame[frame["baseline"] != ""]
    of_pairs = of_pairs.assign(line=of_pairs["line"] + " − " + of_pairs["baseline"])
    document = ["# Where accuracy goes", _table(of_lines, OF_LINE), NOTE]
    if len(of_pairs):
        document += ["## Gains, by part", _table(of_pairs, OF_PAIR), NOTE_OF_GAINS]
    if not are_of_all(measured):
        document.append(NOTE_OF_FIRST)
    return "\n\n".join(document) + "\n"


def with_parts(tested: pd.DataFrame) -> pd.DataFrame:
    """Return the results in which parts were measured, of lines of which no training diverged."""
    whole = without_diverged(tested)
    return whole[whole.reindex(columns=list(WRONG)).notna().all(axis=1)]


def are_of_all(measured: pd.DataFrame) -> bool:
    """Return whether parts are of all sequences of a length, and not of the first."""
    return bool(np.allclose(measured[["accuracy", *WRONG]].sum(axis=1), 1, atol=1e-4))


def _table(frame: pd.DataFrame, statistics: Sequence[str]) -> str:
    """Return a row a task, line, rule and scope of a comparison, a column a statistic."""
    tested = frame["scope"][frame["scope"] != BEYOND]
    scopes: list[Scope] = [*(length for length in SHOWN if length in set(tested)), tested.max(), BEYOND]
    parts = []
    for scope in dict.fromkeys(scopes):
        columns: Columns = {name: (name, scope) for name in statistics}
        found = view(frame, columns)
        at = "beyond" if scope == BEYOND else power(int(scope))
        cells = found[["task", "line", "rule"]].assign(at=at, n=found[f"{statistics[0]}_n"].map("{:.0f}".format))
        numbers = estimates(found, columns)
        if "difference" in columns:
            numbers = {"gain (pp)": numbers.pop(head(columns["difference"])), **numbers}
        parts.append(cells.assign(**numbers))
    together = pd.concat(parts).sort_values(["task", "line", "rule"], kind="stable")
    return table_of(together, texts=4)
