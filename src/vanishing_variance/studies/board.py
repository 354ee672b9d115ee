"""The board of a study as a frame: a row a task, line, baseline and rule of the test.

`results`: those of `reading.by_rule`. Accuracies in percent, with 95% t intervals (`..._low`,
`..._high`) over n seeds.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pandas as pd
from scipy import stats

from vanishing_variance.harness.errors import InputError
from vanishing_variance.results.accuracy import percent_by_length, rows
from vanishing_variance.results.compare.gains import ENDS, VIEWS, columns, gain
from vanishing_variance.results.compare.pairs import percent_beyond
from vanishing_variance.results.runs import RULES
from vanishing_variance.statistics.holm import holm
from vanishing_variance.statistics.intervals import NAN, interval
from vanishing_variance.studies.equal_loss import VIEWS as AT_EQUAL_LOSS
from vanishing_variance.studies.equal_loss import at_equal_loss
from vanishing_variance.studies.results import NO_ANSWER
from vanishing_variance.studies.steps import LAST
from vanishing_variance.studies.study import Study

# Lengths whose accuracy has columns of its own, where they were tested, beside the shortest and the longest.
SHOWN = (2**8, 2**11)
KEYS = ["task", "line", "rule", "n"]
# Of a difference from the baseline.
TESTS = ["n_paired", *(f"{view}{end}" for view in VIEWS for end in ENDS), "d_z", "p", "p_holm"]
OPTIONAL = [NO_ANSWER, *(f"{view}{end}" for view in ("all_seeds", *AT_EQUAL_LOSS) for end in ENDS)]


def board_of_study(results: pd.DataFrame, study: Study, longest: Mapping[str, int], sequences: int) -> pd.DataFrame:
    """Return the board of all lines, those of each range together; `longest`: by range."""
    boards = []
    for range_ in dict.fromkeys(map(study.range_of, study.names)):
        lines = [line for line in study.names if study.range_of(line) == range_]
        of_range = results[results["line"].isin(lines)]
        pairs = [(line, baseline) for line, baseline in study.pairs if line in lines]
        boards.append(board(of_range, pairs, longest[range_], sequences))
    return pd.concat(boards, ignore_index=True)


def board(results: pd.DataFrame, pairs: Iterable[tuple[str, str]], longest: int, sequences: int) -> pd.DataFrame:
    """Return the board, in the order of `results`; one that diverged has a row a task and baseline, with its `note`.

    `pairs`: lines and their baselines; with a second one a line has its rows again.

    `beyond`: the mean over the lengths beyond `longest`, the longest in training; `accuracy_<length>`. `difference`:
    from the line's `baseline`, paired by seed, the same rule, in points, with `p_holm` over the pairs of a task and
    rule; beside it the views of `results.compare.gains.gain`, each accuracy being of so many `sequences`. `all_seeds`:
    where the baseline has more seeds than are paired, the points from all of them, by Welch's interval.

    `no_answer`: where answers are not a number, the largest fraction of a model at a length; they count as wrong.

    Where losses were measured, the points at equal loss (`studies.equal_loss`). Of the rule `last`, where
    it was measured: at the longest length `target`, the attention weight of the item with the answer, and
    `variance_ratio`, of O over that at the shortest length, the geometric mean over seeds. Raises InputError where no
    test length is beyond `longest`.
    """
    if results["length"].notna().any() and not (results["length"] > longest).any():
        raise InputError(f"params.yaml: test.lengths has none above {longest}, the longest in training")
    of_pairs = list(pairs)
    table = []
    for (task, line), own in results.groupby(["task", "line"], sort=False):
        baselines: list[str | None] = [theirs for ours, theirs in of_pairs if ours == line]
        for baseline in baselines or [None]:
            theirs = rows(results, task=task, line=baseline)
            if theirs["note"].notna().any():  # some of its seeds are missing, and not at random
                theirs = theirs.iloc[:0]
            for row in _rows_of_line(own, theirs, longest, sequences):
                about: dict[str, Any] = {"task": task, "line": line, "baseline": baseline}
                if baseline and row["rule"] == LAST and "note" not in row:
                    about["n_paired"] = 0  # where nothing is compared, which would else not be seen
                table.append(about | row)
    frame = pd.DataFrame(table)
    frame["p_holm"] = frame.groupby(["task", "rule"])["p"].transform(lambda p: holm(p.to_numpy(dtype=float)))
    numbers = frame.select_dtypes("float").columns.difference(["p", "p_holm"])
    frame[numbers] = frame[numbers].round(6)
    return frame.reindex(columns=_columns(frame)).astype({"n": "Int64", "n_paired": "Int64"})


def accuracy_lengths(board: pd.DataFrame) -> list[int]:
    """Return the lengths whose accuracy has columns of its own, in order."""
    named = (re.fullmatch(r"accuracy_(\d+)", str(name)) for name in board)
    return sorted(int(match[1]) for match in named if match)


def _rows_of_line(own: pd.DataFrame, baseline: pd.DataFrame, longest: int, sequences: int) -> Iterator[dict[str, Any]]:
    """Yield a row a rule of the results of a line, beside those of its baseline."""
    notes = own["note"].dropna()
    if len(notes):
        yield {"rule": LAST, "note": notes.iloc[0], "p": NAN}
        return
    for rule in RULES:
        by_length = percent_by_length(rows(own, rule=rule))
        if by_length.empty:
            continue
        beyond = percent_beyond(by_length, longest)
        row = {"rule": rule, "n": len(by_length), "p": NAN, **columns("beyond", interval(beyond.to_numpy()))}
        theirs = percent_by_length(rows(baseline, rule=rule))
        if len(theirs):
            points, views = gain(by_length, theirs, longest, sequences)
            row |= {"n_paired": points.n, "d_z": points.d_z, "p": points.p}
            for view, values in views.items():
                row |= columns(view, values)
            if len(theirs) > points.n > 1:
                row |= columns("all_seeds", _unpaired(beyond, percent_beyond(theirs, longest)))
            row |= at_equal_loss(rows(own, rule=rule), rows(baseline, rule=rule), longest)
        missing = rows(own, rule=rule).get(NO_ANSWER, pd.Series(dtype=float))
        if (missing > 0).any():
            row[NO_ANSWER] = missing.max()
        for length in by_length:
            row |= columns(f"accuracy_{length:.0f}", interval(by_length[length].to_numpy()))
        if rule == LAST:
            row |= _inside(rows(own, rule=rule))
        yield row


def _unpaired(ours: "pd.Series[float]", theirs: "pd.Series[float]") -> tuple[float, float, float]:
    """Return the difference of the means of all seeds, and Welch's 95% interval."""
    low, high = stats.ttest_ind(ours, theirs, equal_var=False).confidence_interval()
    return float(ours.mean() - theirs.mean()), float(low), float(high)


def _inside(results: pd.DataFrame) -> dict[str, float]:
    """Return what was measured inside the models at the longest length."""
    longest = rows(results, length=results["length"].max()).set_index("seed")
    shortest = rows(results, length=results["length"].min()).set_index("seed")
    ratio = (longest["variance"] / shortest["variance"]).to_numpy(dtype=float)
    target = longest["target"].to_numpy(dtype=float)
    return {"target": float(target.mean()), "variance_ratio": float(stats.gmean(ratio))}


def _columns(frame: pd.DataFrame) -> list[str]:
    tested = accuracy_lengths(frame)
    shown = sorted({*tested[:1], *SHOWN, *tested[-1:]})
    accuracies = [f"accuracy_{length}{end}" for length in shown for end in ENDS]
    optional = [name for name in (*OPTIONAL, *accuracies) if name in frame]
    beyond = [f"beyond{end}" for end in ENDS]
    return [*KEYS, *beyond, "baseline", *TESTS, *optional, "target", "variance_ratio", "note"]
