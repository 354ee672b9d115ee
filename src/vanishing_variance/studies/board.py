"""The board of a study, a view of its comparison: a frame, a row a task, line, baseline and rule, and as Markdown.

Accuracies in percent, with 95% t intervals (`..._low`, `..._high`) over n seeds.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.numbers import MISSING, estimate, power, table, table_of
from vanishing_variance.results.arms import BEYOND, LENGTHS, LONGEST, SHOWN
from vanishing_variance.results.columns import LAST, NO_ANSWER, STEP
from vanishing_variance.results.comparison import (
    ENDS,
    FEWEST,
    GAIN,
    GAIN_NOTE,
    Columns,
    compare,
    head,
    notes_of_no_answer,
    texts,
    view,
)
from vanishing_variance.results.paired import STATISTICS
from vanishing_variance.results.runs import CHOSEN, RULES
from vanishing_variance.studies.study import Study

# Of a line, and of its gain over its baseline; OPTIONAL and the answers that are no numbers where there are any.
OF_LINE: Columns = {"beyond": ("accuracy", BEYOND)}
INSIDE: Columns = {"target": ("target", LONGEST), "variance_ratio": ("variance_ratio", LONGEST)}
ANSWERS: Columns = {NO_ANSWER: (NO_ANSWER, BEYOND)}
OPTIONAL: Columns = {name: (name, BEYOND) for name in ("all_seeds", "at_baseline_loss", "at_own_loss")}
GAINS: Columns = {**GAIN, **OPTIONAL}
TESTS: Columns = {name: (name, BEYOND) for name in ("d_z", "p", "p_holm")}
# Rules of the Markdown, but where weights were chosen.
IN_TABLES = (LAST, "averaged")
CAPTION = (
    "Accuracy (%), mean over the lengths beyond training and at single lengths, with 95% t intervals over n seeds. "
    "More: [board.csv](board.csv)."
)
NOTES = {
    "all_seeds": " *From all seeds*: the difference from all seeds of the baseline, not paired, by Welch's interval.",
    "log_loss": " *Difference of log loss*: the line's less its baseline's; below 0 the line's is lower.",
    "anytime": (
        " *Anytime*: the points beyond training once more, with an interval that stays valid after every block of "
        "seeds (mixture t confidence sequence), where the usual one is for one look."
    ),
    "at_baseline_loss": (
        " *At its baseline's loss*, *at its own*: in the same way, at equal log loss at the training lengths, after as "
        "many steps, extrapolated where the arms' losses do not overlap; losses are of the same 25,600 fresh "
        "sequences. Where one is below 1e-5, and has six decimals, nothing is said."
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
    shown = sorted({*tested[:1], *SHOWN, *tested[-1:]} & set(tested))
    accuracies: Columns = {f"accuracy_{length}": ("accuracy", length) for length in shown}
    gains: Columns = {f"difference_{length}": ("difference", length) for length in shown if length > longest}
    asked: Columns = {name: (name, BEYOND) for name in statistics}
    columns = {**asked, **OF_LINE, **GAINS, **TESTS, **ANSWERS, **INSIDE}
    wanted = [("accuracy", LENGTHS), ("difference", LENGTHS), *columns.values()]
    wanted.remove(TESTS["p_holm"])  # which is with p
    lines = results["line"].unique()
    compared = _compared(lines, pairs)
    of_lines = compared.itertuples(index=False, name=None)
    frame = compare(results, of_lines, dict.fromkeys(lines, longest), sequences, wanted, [*RULES, CHOSEN])
    measured = view(frame, {**columns, **accuracies, **gains})
    measured = measured.rename(columns={"beyond_n": "n", "difference_n": "n_paired"})
    notes = results[["task", "line", "note"]].dropna(subset="note").drop_duplicates(["task", "line"])
    diverged = notes.merge(compared).assign(rule=LAST)
    in_order = results[["task", "line"]].drop_duplicates().merge(compared)
    board = in_order.merge(pd.concat([measured, diverged]))
    columns_of_board = _columns(board, gains, [*OPTIONAL, *accuracies, *asked])
    return _rounded(board[columns_of_board].copy())


def _rounded(board: pd.DataFrame) -> pd.DataFrame:
    """Return a board with whole counts and rounded numbers; a baseline without a common seed has 0, to be seen."""
    board["baseline"] = board["baseline"].mask(board["baseline"] == "")
    lacks_pair = board["baseline"].notna() & board["note"].isna() & board["rule"].isin([LAST, CHOSEN])
    board["n_paired"] = board["n_paired"].mask(lacks_pair, board["n_paired"].fillna(0))
    numbers = board.select_dtypes("float").columns.difference(["p", "p_holm"])
    board[numbers] = board[numbers].round(6)
    return board.astype({"n": "Int64", "n_paired": "Int64"})


def _compared(lines: Iterable[str], pairs: Sequence[tuple[str, str]]) -> pd.DataFrame:
    """Return lines and their baselines, one after another, "" where a line has none."""
    compared = []
    for line in lines:
        baselines = [baseline for other, baseline in pairs if other == line]
        compared += [(line, baseline) for baseline in baselines or [""]]
    return pd.DataFrame(compared, columns=["line", "baseline"])


def _columns(board: pd.DataFrame, gains: Iterable[str], optional: Iterable[str]) -> list[str]:
    """Return the columns of a board, `gains` those at single lengths, the optional ones as far as they have numbers."""
    there = [name for name in [*ANSWERS, *optional] if board[name].notna().any()]
    answers = [name for name in ANSWERS if name in there]
    estimates = [name for name in there if name not in ANSWERS]
    of_line = ["task", "line", "rule", "n", *_with_ends(OF_LINE), "baseline"]
    of_pair = ["n_paired", *_with_ends([*GAIN, *gains]), *TESTS]
    columns = [*of_line, *of_pair, *answers, *_with_ends(estimates), *INSIDE, "note"]
    return list(dict.fromkeys(columns))  # a statistic that is asked for may be a usual one


def _with_ends(names: Iterable[str]) -> list[str]:
    """Return the columns of estimates and of both ends of their intervals."""
    return [f"{name}{end}" for name in names for end in ENDS.values()]


def shown_lengths(board: pd.DataFrame, name: str = "accuracy") -> list[int]:
    """Return the lengths at which an accuracy or a difference has columns of its own, in order."""
    matches = [re.fullmatch(rf"{name}_(\d+)", str(column)) for column in board]
    return sorted(int(match[1]) for match in matches if match)


def board_table(
    name: str, question: str, board: pd.DataFrame, longest: Mapping[str, int], asked: Sequence[str] = ()
) -> str:
    """Return two tables a task, accuracies and gains: a row a line as trained, and one with averaged weights.

    `longest`: in training, by range; `asked`: statistics that have a column beside the usual ones.
    """
    parts = [f"# {name}", question, CAPTION + note_of_ranges(longest)]
    for task, of_task in board.groupby("task", sort=False):
        rules = [CHOSEN] if CHOSEN in set(of_task["rule"]) else IN_TABLES
        shown = of_task[of_task["rule"].isin(rules) | of_task["note"].notna()]
        parts += [f"## {task}", _accuracies(shown, asked)]
        parts += notes_of_no_answer(shown)
        gains = shown.dropna(subset="n_paired")
        if len(gains):
            parts.append(_gains(gains, asked))
    note = GAIN_NOTE + "".join(text for column, text in NOTES.items() if column in board)
    return "\n\n".join([*parts, note]) + "\n"


def note_of_ranges(longest: Mapping[str, int]) -> str:
    """Return in words that means beyond training are of other lengths by range, if there are several."""
    if len(longest) < 2:
        return ""
    ends = ", ".join(f"above {items} for the {range_} range" for range_, items in longest.items())
    return f" Means beyond training are over lengths {ends}: compare lines of one range."


def _accuracies(board: pd.DataFrame, asked: Sequence[str]) -> str:
    board = board.drop_duplicates(["line", "rule"])  # of a second baseline
    columns = {"beyond": ("beyond", ".1f")}
    for length in shown_lengths(board):
        columns[f"accuracy_{length}"] = (power(length), ".1f")
    columns = _there(board, {**columns, **_asked(asked, of_pair=False)})
    words = [name for name in ("line", "setting", "rule") if name in board]
    counts = [name for name in ("n", "failed") if name in board]
    cells = _cells(board.fillna({"setting": ""}), [*words, *counts], columns, "n")
    diverged = board["note"].notna()
    cells.loc[diverged, cells.columns.difference(words)] = ""
    cells.loc[diverged, "rule"] = board["note"]
    return table_of(cells, texts=len(words))


def _cells(board: pd.DataFrame, names: list[str], columns: Mapping[str, tuple[str, str]], n: str) -> pd.DataFrame:
    """Return columns as text: those of some names as they are, and estimates of `n` seeds.

    `columns`: the words above an estimate, and its format.
    """
    cells = board[names].astype(str)
    for name, (words, how) in columns.items():
        cells[words] = texts_of_seeds(board, name, how, n)
    return cells


def _gains(board: pd.DataFrame, asked: Sequence[str]) -> str:
    usual = {name: (head(column), STATISTICS[column[0]].how) for name, column in GAINS.items()}
    columns = {"difference": usual["difference"]}
    for length in shown_lengths(board, "difference"):
        columns[f"difference_{length}"] = (f"{power(length)} (pp)", "+.1f")
    columns = _there(board, {**columns, **usual, **_asked(asked, of_pair=True)})
    cells = _cells(board, ["line", "baseline", "rule", "n_paired"], columns, "n_paired")
    return table_of(cells.rename(columns={"n_paired": "n"}), texts=3)


def _asked(asked: Sequence[str], of_pair: bool) -> dict[str, tuple[str, str]]:
    """Return words and format of statistics that a study asks for, and that have no column of their own."""
    others = [name for name in asked if name not in (*OF_LINE, *GAINS, *ANSWERS)]
    columns = {name: INSIDE.get(name, (name, BEYOND)) for name in others if STATISTICS[name].of_pair == of_pair}
    return {name: (head(column), STATISTICS[name].how) for name, column in columns.items()}


def _there(board: pd.DataFrame, columns: Mapping[str, tuple[str, str]]) -> dict[str, tuple[str, str]]:
    """Return the columns of which a board has numbers."""
    return {name: column for name, column in columns.items() if name in board and board[name].notna().any()}


def texts_of_seeds(frame: pd.DataFrame, name: str, how: str, n: str) -> list[str]:
    """Return `texts`, with words for the interval of fewer than FEWEST seeds; the column `n` has how many there are."""
    cells = []
    for text, value, seeds in zip(texts(frame, name, how), frame[name], frame[n], strict=True):
        is_few = not pd.isna(value) and seeds < FEWEST
        cells.append(f"{estimate(how, value)} [too few seeds]" if is_few else text)
    return cells


def steps_section(results: pd.DataFrame, study: Study, longest: Mapping[str, int]) -> str:
    """Return the gains after the steps whose weights were kept, and at the end, as Markdown, a table a task.

    Nothing where no weights were kept. `results`: by rule; `longest`: of training, by range.
    """
    longest_of_lines = {line: longest[study.range_of(line)] for line in study.names}
    gains = gains_by_steps(results, study.pairs, longest_of_lines)
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
