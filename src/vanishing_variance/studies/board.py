"""The board of a study, a view of its comparison: a frame, a row a task, line, baseline and rule, and as Markdown.

Accuracies in percent, with 95% t intervals (`..._low`, `..._high`) over n seeds.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.numbers import MISSING, estimate, power, table
from vanishing_variance.results.columns import LAST, NO_ANSWER, STEP
from vanishing_variance.results.comparison import (
    BEYOND,
    ENDS,
    GAIN,
    GAIN_NOTE,
    LENGTHS,
    LONGEST,
    STATISTICS,
    Columns,
    compare,
    head,
    texts,
    view,
)
from vanishing_variance.studies.study import Study

# Lengths whose accuracy has columns of its own, where they were tested, beside the shortest and the longest.
SHOWN = (2**8, 2**11)
# Of a line, and of its gain over its baseline; the last three where they are.
OF_LINE: Columns = {"beyond": ("accuracy", BEYOND)}
INSIDE: Columns = {"target": ("target", LONGEST), "variance_ratio": ("variance_ratio", LONGEST)}
OPTIONAL = {name: (name, BEYOND) for name in (NO_ANSWER, "all_seeds", "at_baseline_loss", "at_own_loss")}
GAINS: Columns = {**GAIN, **{name: column for name, column in OPTIONAL.items() if name != NO_ANSWER}}
TESTS: Columns = {name: (name, BEYOND) for name in ("d_z", "p", "p_holm")}
# Rules of the Markdown, and seeds of an interval there.
IN_TABLES = (LAST, "averaged")
FEWEST = 3
CAPTION = (
    "Accuracy (%), mean over the lengths beyond training and at single lengths, with 95% t intervals over n seeds. "
    "More: [board.csv](board.csv)."
)
NOTES = {
    "all_seeds": " *From all seeds*: the difference from all seeds of the baseline, not paired, by Welch's interval.",
    "at_baseline_loss": (
        " *At its baseline's loss*, *at its own*: in the same way, at equal log loss at the training lengths, after as "
        "many steps, extrapolated where the arms' losses do not overlap; losses are of the same 25,600 fresh "
        "sequences. Where one is below 1e-5, stored too coarsely, nothing is said."
    ),
}
STEPS_NOTE = (
    "*After so many steps* of the same trainings, at the rate that they had there: the gain beyond training in points, "
    "paired by seed, with 95% intervals."
)


def board_of_study(results: pd.DataFrame, study: Study, longest: Mapping[str, int], sequences: int) -> pd.DataFrame:
    """Return the board of all lines, those of each range together; `longest`: by range."""
    by_range: dict[str, list[str]] = {}
    for line in study.names:
        by_range.setdefault(study.range_of(line), []).append(line)
    boards = []
    for range_, lines in by_range.items():
        pairs = [(line, baseline) for line, baseline in study.pairs if line in lines]
        of_range = results[results["line"].isin(lines)]
        boards.append(board(of_range, pairs, longest[range_], sequences, study.statistics))
    return pd.concat(boards, ignore_index=True)


def board(
    results: pd.DataFrame,
    pairs: Sequence[tuple[str, str]],
    longest: int,
    sequences: int,
    statistics: Iterable[str] = (),
) -> pd.DataFrame:
    """Return the board, in the order of `results`; one that diverged has a row a task and baseline, with its `note`.

    `results`: by rule; `pairs`: lines and their baselines; with a second one a line has its rows again. `statistics`:
    those that are shown beyond the usual ones. `longest`: in training. Each accuracy is of so many `sequences`.

    `beyond`: the mean over the lengths beyond `longest`; `accuracy_<length>`. `difference` and the other columns of
    GAINS and TESTS: from the line's `baseline`, paired by seed, the same rule, with `p_holm` over the pairs of a task
    and rule. `no_answer`: where answers are not a number, the largest fraction of a model at a length; they count as
    wrong. Of the rule `last`, where it was measured: INSIDE. Raises InputError where no test length is beyond
    `longest`.
    """
    tested = sorted(results["length"].dropna().astype(int).unique())
    if tested and tested[-1] <= longest:
        raise InputError(f"params.yaml: test.lengths has none above {longest}, the longest in training")
    lines = results["line"].unique()
    baselines = {line: [theirs for ours, theirs in pairs if ours == line] or [""] for line in lines}
    of_lines = [(line, baseline) for line in lines for baseline in baselines[line]]
    asked = {name: (name, BEYOND) for name in statistics}
    shown = sorted({*tested[:1], *SHOWN, *tested[-1:]} & set(tested))
    accuracies = {f"accuracy_{length}": ("accuracy", length) for length in shown}
    columns = {**OF_LINE, **GAIN, **TESTS, **OPTIONAL, **asked, **accuracies, **INSIDE}
    wanted = {("accuracy", LENGTHS), *columns.values()} - {("p_holm", BEYOND), *accuracies.values()}
    frame = compare(results, of_lines, dict.fromkeys(lines, longest), sequences, sorted(wanted))
    found = view(frame, columns).rename(columns={"beyond_n": "n", "difference_n": "n_paired"})
    found = pd.concat([found, _diverged(results, baselines)])
    places = {place: at for at, place in enumerate(_places(results, baselines))}
    keys = zip(found["task"], found["line"], found["baseline"], strict=True)
    found = found.iloc[pd.Series([places[key] for key in keys], dtype=int).argsort(kind="stable")]
    found["baseline"] = found["baseline"].mask(found["baseline"] == "")
    found = found[_columns(found, [*OPTIONAL, *accuracies, *asked])].reset_index(drop=True)
    lacks_pair = found["baseline"].notna() & found["note"].isna() & (found["rule"] == LAST)
    found["n_paired"] = found["n_paired"].mask(lacks_pair, found["n_paired"].fillna(0))  # which would else not be seen
    numbers = found.select_dtypes("float").columns.difference(["p", "p_holm"])
    found[numbers] = found[numbers].round(6)
    return found.astype({"n": "Int64", "n_paired": "Int64"})


def _places(results: pd.DataFrame, baselines: Mapping[str, list[str]]) -> list[tuple[str, str, str]]:
    """Return task, line and baseline of the rows of a board, in order."""
    models = results[["task", "line"]].drop_duplicates().to_numpy()
    return [(task, line, baseline) for task, line in models for baseline in baselines[line]]


def _diverged(results: pd.DataFrame, baselines: Mapping[str, list[str]]) -> pd.DataFrame:
    """Return a row a line and baseline of which a training diverged, with its note."""
    notes = results.dropna(subset="note").drop_duplicates(["task", "line"])[["task", "line", "note"]]
    found = [(*row[:2], baseline, LAST, row[2]) for row in notes.to_numpy() for baseline in baselines[row[1]]]
    return pd.DataFrame(found, columns=["task", "line", "baseline", "rule", "note"])


def _columns(frame: pd.DataFrame, optional: Iterable[str]) -> list[str]:
    """Return the columns of a board, the optional ones as far as they have numbers."""

    def with_ends(*names: str) -> list[str]:
        return [f"{name}{end}" for name in names for end in ENDS.values()]

    there = [name for name in optional if frame[name].notna().any()]
    shown = [NO_ANSWER] * (NO_ANSWER in there) + with_ends(*(name for name in there if name != NO_ANSWER))
    own = ["task", "line", "rule", "n", *with_ends("beyond"), "baseline"]
    return [*own, "n_paired", *with_ends(*GAIN), *TESTS, *shown, *INSIDE, "note"]


def accuracy_lengths(board: pd.DataFrame) -> list[int]:
    """Return the lengths whose accuracy has columns of its own, in order."""
    named = (re.fullmatch(r"accuracy_(\d+)", str(name)) for name in board)
    return sorted(int(match[1]) for match in named if match)


def board_table(name: str, question: str, board: pd.DataFrame) -> str:
    """Return the tables of a board with what they say."""
    note = GAIN_NOTE + "".join(text for column, text in NOTES.items() if column in board)
    return "\n\n".join([f"# {name}", question, CAPTION, *tables_of_tasks(board), note]) + "\n"


def tables_of_tasks(board: pd.DataFrame) -> list[str]:
    """Return two tables a task, accuracies and gains: a row a line as trained, and one with averaged weights."""
    parts = []
    for task, of_task in board.groupby("task", sort=False):
        shown = of_task[of_task["rule"].isin(IN_TABLES)]
        parts += [f"## {task}", _accuracies(shown)]
        parts += _without_answers(shown)
        gains = shown.dropna(subset="n_paired")
        if len(gains):
            parts.append(_gains(gains))
    return parts


def _accuracies(board: pd.DataFrame) -> str:
    lengths = [length for length in accuracy_lengths(board) if board[f"accuracy_{length}"].notna().any()]
    board = board.drop_duplicates(["line", "rule"])  # of a second baseline
    columns = {"beyond": ("beyond", ".1f"), **{f"accuracy_{length}": (power(length), ".1f") for length in lengths}}
    columns |= _asked(board, of_pair=False)
    cells = board[["line", "rule"]].assign(n=board["n"].astype(str))
    for column, (_, how) in columns.items():
        cells[column] = texts_of_seeds(board, column, how, "n")
    diverged = board["note"].notna()
    cells.loc[diverged, "rule"] = board["note"]
    cells.loc[diverged, ["n", *columns]] = ""
    return table(["line", "rule", "n", *(words for words, _ in columns.values())], cells.to_numpy(), texts=2)


def _without_answers(board: pd.DataFrame) -> list[str]:
    """Return a line for each model whose answers are not all numbers."""
    missing = board.drop_duplicates(["line", "rule"]).reindex(columns=["line", "rule", NO_ANSWER]).dropna()
    said = "of the answers of a model at a length are not a number; they count as wrong."
    return [f"*{row.line}*, {row.rule}: up to {row.no_answer:.1%} {said}" for row in missing.itertuples()]


def _gains(board: pd.DataFrame) -> str:
    columns = {name: (head(column), STATISTICS[column[0]].how) for name, column in GAINS.items()}
    columns |= _asked(board, of_pair=True)
    columns = {name: shown for name, shown in columns.items() if name in board and board[name].notna().any()}
    cells = [board[name].astype(str).tolist() for name in ("line", "baseline", "rule", "n_paired")]
    cells += [texts_of_seeds(board, name, how, "n_paired") for name, (_, how) in columns.items()]
    heads = [words for words, _ in columns.values()]
    return table(["line", "baseline", "rule", "n", *heads], zip(*cells, strict=True), texts=3)


def _asked(board: pd.DataFrame, of_pair: bool) -> dict[str, tuple[str, str]]:
    """Return words and format of the statistics in a board that only a study that asks for them has."""
    usual = {*OF_LINE, *GAINS, *TESTS, *OPTIONAL, *INSIDE}
    asked = [name for name in STATISTICS if name in board and name not in usual]
    return {name: STATISTICS[name][1:3] for name in asked if STATISTICS[name].of_pair == of_pair}


def texts_of_seeds(frame: pd.DataFrame, name: str, how: str, n: str) -> list[str]:
    """Return `texts`, with words for the interval of fewer than FEWEST seeds; the column `n` has how many there are."""
    found = []
    for text, value, seeds in zip(texts(frame, name, how), frame[name], frame[n], strict=True):
        is_few = not pd.isna(value) and seeds < FEWEST
        found.append(f"{estimate(how, value)} [too few seeds]" if is_few else text)
    return found


def steps_section(results: pd.DataFrame, study: Study, longest: Mapping[str, int]) -> str:
    """Return the gains after the steps whose weights were kept, and at the end, as Markdown, a table a task.

    Nothing where no weights were kept. `results`: by rule; `longest`: of training, by range.
    """
    gains = gains_by_steps(results, study.pairs, {line: longest[study.range_of(line)] for line in study.names})
    parts = []
    for task, of_task in gains.groupby("task", sort=False):
        steps = sorted(of_task["rule"].unique(), key=lambda rule: (rule == LAST, rule))
        cells = of_task.assign(cell=texts_of_seeds(of_task, "difference", "+.1f", "difference_n"))
        wide = cells.pivot_table("cell", ["line", "baseline"], "rule", aggfunc="first", sort=False)
        heads = ["line", "baseline", *(rule.removeprefix(STEP).lstrip("0") for rule in steps)]
        body = wide[steps].fillna(MISSING).reset_index().to_numpy()
        parts += [f"## Gain by steps on {task}", table(heads, body, texts=2)]
    return "\n" + "\n\n".join([*parts, STEPS_NOTE]) + "\n" if parts else ""


def gains_by_steps(results: pd.DataFrame, pairs: Iterable[tuple[str, str]], longest: Mapping[str, int]) -> pd.DataFrame:
    """Return the gains of pairs beyond training after each number of steps of KEYS, of tasks that have kept weights."""
    steps = kept_steps(results)
    tasks = results[results["rule"].isin(list(steps))]["task"].unique()
    of_tasks = results[results["task"].isin(tasks)]
    columns: Columns = {"difference": ("difference", BEYOND)}
    return view(compare(of_tasks, pairs, longest, 0, columns.values(), rules=[*steps, LAST]), columns)


def kept_steps(tested: pd.DataFrame) -> dict[str, int]:
    """Return the numbers of steps after which weights were kept, in order, by the name of the rule."""
    rules = sorted(rule for rule in tested["rule"].dropna().unique() if rule.startswith(STEP))
    return {rule: int(rule.removeprefix(STEP)) for rule in rules}
