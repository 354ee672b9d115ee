"""The files of results of a study: of a run that was tested, and `kept.csv`, of seeds whose weights nobody has."""

import pandas as pd

from vanishing_variance.engine.run import Run
from vanishing_variance.harness.errors import InputError, shown
from vanishing_variance.harness.frames import read_csv
from vanishing_variance.results.columns import LAST, LOSS, MODEL, OUTPUTS, WEIGHTS
from vanishing_variance.studies.checked import check_results
from vanishing_variance.studies.files import STUDIES, kept_file, results_file
from vanishing_variance.studies.study import Study
from vanishing_variance.studies.tuning import run_names


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
