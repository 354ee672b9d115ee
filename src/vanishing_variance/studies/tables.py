"""The tables that compare the lines of a study: its board, settings, and what it asks for beside."""

import pandas as pd

from vanishing_variance.harness.frames import Files
from vanishing_variance.measure.proposition import summary
from vanishing_variance.results.columns import rounded
from vanishing_variance.results.parts import parts
from vanishing_variance.results.schema import by_rule, without_diverged
from vanishing_variance.results.shares import shares
from vanishing_variance.studies import paper_tables
from vanishing_variance.studies.arguments import Planned
from vanishing_variance.studies.board import board_of_study, board_table, steps_section
from vanishing_variance.studies.choosing import require_chosen
from vanishing_variance.studies.files import kept_file
from vanishing_variance.studies.kept import read_kept
from vanishing_variance.studies.made_of import check_kept_made_of
from vanishing_variance.studies.reading import read_measured, read_results, read_runs
from vanishing_variance.studies.settings import (
    of_last_weights,
    settings_of_study,
    settings_tables,
    with_chosen,
    with_settings,
)
from vanishing_variance.studies.study import Study
from vanishing_variance.studies.tuning import Tuned, chosen_of


def study_files(study: Study, planned: Planned) -> tuple[Files, pd.DataFrame]:
    """Return board.csv, board.md and, where a study asks for them, others by name; and the results by rule.

    Raises InputError.
    """
    name, compare = planned.study, planned.document["compare"]
    longest, sequences = compare["longest"], compare["sequences"]
    longest_of_lines = {line: longest[study.range_of(line)] for line in study.names}
    tuned = Tuned.model_validate(compare.get("tuned", {}))
    results = read_results(name, study, planned.runs, tuned)
    check_kept_made_of(kept_file(name), read_kept(name, study), compare.get("kept", {}))
    require_chosen(name, study, tuned)
    tested = with_chosen(by_rule(results), tuned)
    board = board_of_study(tested, study, longest, sequences)
    files: Files = {}
    of_settings = ""
    if study.tune:
        board = with_settings(board, tested, tuned, longest_of_lines)
        by_setting = by_rule(read_runs(name, study, planned.runs, tuned))
        settings = settings_of_study(by_setting, study, tuned, longest_of_lines, sequences)
        files["settings.csv"] = settings
        of_settings = settings_tables(settings)
    by_steps = steps_section(of_last_weights(tested, tuned), study, longest)
    tables = board_table(name, _question(study, results), board, longest, study.statistics)
    files |= {"board.csv": board, "board.md": tables + by_steps + of_settings}
    where = parts(tested, study.pairs, longest_of_lines, sequences)
    if where:
        files["parts.md"] = where
    if study.paper_tables:
        files |= paper_tables.files(paper_tables.evidence_of(study, compare["params"], results))
    if planned.intervened:
        intervened = _of_lines(read_measured("interventions", planned.intervened), tested, tuned)
        files["interventions.csv"] = rounded(shares(intervened, longest_of_lines))
    if planned.proposed:
        proposed = _of_lines(read_measured("proposition", planned.proposed), tested, tuned)
        files["proposition.csv"] = rounded(summary.lines(proposed))
    return files, tested


def _question(study: Study, results: pd.DataFrame) -> str:
    """Return the question of a study, with the root seeds of its results where one is not 0."""
    roots = sorted({*results.reindex(columns=["root_seed"])["root_seed"].dropna().astype(int)})
    return f"{study.question} Root seed {' and '.join(map(str, roots))}." if any(roots) else study.question


def _of_lines(measured: pd.DataFrame, tested: pd.DataFrame, tuned: Tuned) -> pd.DataFrame:
    """Return what was measured in runs by the names of lines, of tuned ones in place of those of their settings.

    `tested`: results by rule; of a line of which a training diverged there is nothing.
    """
    lines: dict[tuple[str, str], str] = {}
    for task, of_task in tuned.tried.items():
        for line, settings in of_task.items():
            chosen = chosen_of(settings)
            if chosen:
                lines.setdefault((task, chosen.name), line)  # the first, where lines share a run
    runs = zip(measured["task"], measured["line"], strict=True)
    named = measured.assign(line=[lines.get((task, run), run) for task, run in runs])
    return named.merge(without_diverged(tested)[["task", "line"]].drop_duplicates())
