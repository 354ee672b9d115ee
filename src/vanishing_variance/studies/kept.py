"""The files of results of a study: of a run that was tested, and `kept.csv`, of seeds whose weights nobody has.

People edit and merge them: each number is checked, and that none is missing.
"""

from collections.abc import Iterator
from pathlib import Path

import pandas as pd

from vanishing_variance.engine.run import Run
from vanishing_variance.harness.errors import InputError, shown
from vanishing_variance.harness.frames import read_csv
from vanishing_variance.results.columns import LAST, LOSS, MODEL, OUTPUTS, STEP, WEIGHTS
from vanishing_variance.results.runs import RULES
from vanishing_variance.studies.files import STUDIES, kept_file, results_file
from vanishing_variance.studies.results import KEYS
from vanishing_variance.studies.study import Study
from vanishing_variance.studies.tuning import run_names

# By the kind of a number: what is allowed, and the largest.
WHOLE = ("a whole number from 0", 2**31)
FRACTION = ("a number from 0 to 1", 1)
NATS = ("a number from 0", 1e6)


def read_kept(name: str, study: Study) -> pd.DataFrame:
    """Return the results of the seeds that are kept; none where a study has no such file. A tuned line has settings.

    Raises InputError for a line or task that study.yaml does not name, a line of `kept` without a seed, and whatever
    `check_results` refuses.
    """
    path = kept_file(name)
    kept = pd.DataFrame(columns=[*MODEL, "length"])
    if path.exists():
        inside = [*WEIGHTS, "variance", *OUTPUTS[1:]] if study.paper_tables else []
        tuned = [line for line in study.names if study.grid(line)]
        losses = dict.fromkeys(f"{LOSS}_{rule}" for line in tuned for rule in study.weights(line))
        kept = read_csv(path, *MODEL, "length", LAST, *inside, *losses)
        check_results(path, kept)
    runs = {line: run_names(study, line) for line in study.names}
    for column, known in (("task", study.tasks), ("line", [run for names in runs.values() for run in names])):
        for unknown in kept[column][~kept[column].isin(known)]:
            raise InputError(f"{path}: {column} is {shown(unknown)}; study.yaml has {', '.join(known)}")
    for line in study.kept:
        if not kept["line"].isin(runs[line]).any():
            raise InputError(f"{STUDIES / name}/study.yaml: kept has {line}, of which {path} has no seeds")
    return kept


def read_run(run: Run) -> pd.DataFrame:
    """Return the results of a run that was tested. Raises InputError."""
    path = results_file(run)
    results = with_first_columns(read_csv(path).assign(task=run.task, line=run.line), *MODEL, "length", LAST)
    check_results(path, results)
    return results


def with_first_columns(frame: pd.DataFrame, *names: str) -> pd.DataFrame:
    """Return a frame that has some columns first, empty where it has not."""
    columns = dict.fromkeys([*names, *frame])
    return frame.reindex(columns=list(columns))


def check_results(path: Path, results: pd.DataFrame) -> None:
    """Raise InputError for the first number that is wrong or missing; `results`: rows of a file, with task and line."""
    if "note" in results:
        results = results[results["note"].isna()]
    for column in KEYS:
        _check_numbers(path, results, column, *WHOLE)
        _refuse(path, results[pd.to_numeric(results[column]) % 1 != 0], column, WHOLE[0])
    check_once(str(path), results)
    tested = results[results["length"] > 0]
    for column, (allowed, most) in _measured(results):
        _check_numbers(path, results, column, allowed, most)
        is_there = tested[column].notna()
        is_elsewhere = is_there.groupby([tested[name] for name in MODEL]).transform("any")
        _refuse(path, tested[~is_there & (is_elsewhere | (column == LAST))], column, allowed)


def check_once(where: str, results: pd.DataFrame) -> None:
    """Raise InputError where a model has two rows of a length."""
    tested = results[results["length"].notna()]
    for row in tested[tested.duplicated([*MODEL, "length"])].to_dict("records"):
        said = f"{where} has seed {row['seed']:.0f} of line {row['line']} on {row['task']} twice"
        raise InputError(f"{said} at length {row['length']:.0f}; remove one")


def _measured(results: pd.DataFrame) -> Iterator[tuple[str, tuple[str, float]]]:
    """Yield the columns of accuracies and losses, and what is allowed there."""
    for column in map(str, results):
        if column in RULES or column.startswith(STEP):
            yield column, FRACTION
        elif column.startswith(f"{LOSS}_"):
            yield column, NATS


def _check_numbers(path: Path, results: pd.DataFrame, column: str, allowed: str, most: float) -> None:
    """Raise InputError for a cell that is no number up to `most`; an empty one of KEYS among them."""
    numbers = pd.to_numeric(results[column], errors="coerce").astype(float)
    may_be_empty = results[column].isna() & (column not in KEYS)
    _refuse(path, results[~(numbers.between(0, most) | may_be_empty)], column, allowed)


def _refuse(path: Path, wrong: pd.DataFrame, column: str, allowed: str) -> None:
    for row in wrong.to_dict("records"):
        value = "empty" if pd.isna(row[column]) else shown(row[column])
        model = f"line {row['line']} on {row['task']}, seed {row['seed']}, length {row['length']}"
        raise InputError(f"{path}: {model}: {column} is {value}; must be {allowed}")
