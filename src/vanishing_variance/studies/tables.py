"""The tables that compare the lines of a study, of studies/ or of params.yaml: its board, and what else it asks for."""

from collections.abc import Mapping
from functools import cache, partial
from itertools import product
from pathlib import Path
from typing import Any

import pandas as pd

from vanishing_variance.claims.evidence import Evidence
from vanishing_variance.claims.judgement import OF_STUDY, judged
from vanishing_variance.claims.paper import CLAIMS
from vanishing_variance.engine.run import PAPER
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.frames import Files, read_csv
from vanishing_variance.harness.paths import METRICS, PLOTS
from vanishing_variance.harness.sections import PATH, Length, get_param
from vanishing_variance.measure.proposition import summary
from vanishing_variance.results.columns import rounded, rows
from vanishing_variance.results.files import TrainingSetup, comparison, recovery, without_interventions
from vanishing_variance.results.parts import parts
from vanishing_variance.results.runs import REFERENCE, line_of
from vanishing_variance.results.schema import beside_accuracy, by_rule, without_diverged
from vanishing_variance.results.shares import shares
from vanishing_variance.studies.arguments import Planned
from vanishing_variance.studies.board import board_of_study, board_table, steps_section
from vanishing_variance.studies.choosing import require_chosen
from vanishing_variance.studies.files import kept_file, plan_file
from vanishing_variance.studies.kept import read_kept
from vanishing_variance.studies.made_of import check_kept_made_of
from vanishing_variance.studies.parameters import PAPERS_NORM, longest_of_ranges, unchecked_params
from vanishing_variance.studies.plan import params_of_training
from vanishing_variance.studies.reading import read_answers, read_measured, read_results, read_runs
from vanishing_variance.studies.root import root_study
from vanishing_variance.studies.settings import (
    kept_on_steps,
    of_last_weights,
    settings_of_study,
    settings_tables,
    with_chosen,
    with_settings,
)
from vanishing_variance.studies.study import Study
from vanishing_variance.studies.tuning import Tuned, chosen_of

# Of a study's results, what is not derived as quickly as it is read.
OF_PAPER = ("tables/tables.md", "tables/paper.md")
EXPONENTS = "proposition-exponents.csv"
# Sections of params.yaml that tables and claims name beside what was trained with them.
COMPARED = ("network", "attention", "model", "training", "tasks", "ranges")


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
        of_settings = settings_tables(settings, kept_on_steps(study))
    by_steps = steps_section(of_last_weights(tested, tuned), study, longest)
    tables = board_table(name, _question(study, results), board, longest, study.statistics)
    files |= {"board.csv": board, "board.md": tables + by_steps + of_settings}
    where = parts(tested, study.pairs, longest_of_lines, sequences)
    if where:
        files["parts.md"] = where
    if study.paper_tables:
        evidence = evidence_of(study, compare["params"], results)
        compared = comparison(evidence.accuracy, None, evidence.paper, PAPERS_NORM, evidence.training)
        files |= {name: compared[name] for name in OF_PAPER}
        files["claims.json"] = claims_of(evidence)["claims.json"]
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

    `tested`: results by rule; of a line of which a training diverged there is nothing. Lines that share a run have each
    its own seeds of it.
    """
    named = []
    for task, of_task in tuned.tried.items():
        for line, settings in of_task.items():
            chosen = chosen_of(settings)
            of_run = rows(measured, task=task, line=chosen.name) if chosen else measured[:0]
            is_own = of_run["seed"].isin(tuned.seeds[line]) if "seed" in of_run else slice(None)
            named.append(of_run[is_own].assign(line=line))
    all_named = pd.concat([measured, *named], ignore_index=True)  # of runs of settings, tested has no line
    found: pd.DataFrame = all_named.merge(without_diverged(tested)[["task", "line"]].drop_duplicates())
    return found


def evidence_of(study: Study, params: Mapping[str, Any], results: pd.DataFrame) -> Evidence:
    """Return what the tables and claims of a study rest on, lines of which no training diverged. Raises InputError.

    `params`: `params_of_tables`.
    """
    names = {line: line_of(study.own(line)["norm"], study.range_of(line)) for line in study.names}
    named = results.assign(line=results["line"].map(names))
    of_rules = by_rule(named)
    diverged, tested = of_rules[of_rules["note"].notna()], without_diverged(of_rules)
    whole = named.merge(tested[["task", "line"]].drop_duplicates())
    return Evidence(
        accuracy=tested,
        mechanism=beside_accuracy(whole),
        paper=read_csv(REFERENCE),
        training=TrainingSetup.of(params, list(names.values())),
        diverged={*zip(diverged["task"], diverged["line"], strict=True)},
    )


def claims_of(evidence: Evidence) -> Files:
    """Return the verdicts that results of a study decide."""
    return judged([claim for claim in CLAIMS if claim.statistic in OF_STUDY], evidence)


def _require_planned(params: Mapping[str, Any], study: Study, planned: Planned) -> None:
    """Raise InputError where params.yaml is no longer what the runs were planned by."""
    lines = {(run.task, run.line) for run in planned.runs}
    edited = [] if lines == {*product(study.tasks, study.names)} else ["norm, train_on or tasks"]
    for run in planned.runs:
        if not edited:
            now = params_of_training(unchecked_params(params, study, run.line), run.task, study.range_of(run.line))
            before = planned.params(run.key, "train")
            edited += [key for key in COMPARED if now[key] != before[key]]
    if edited:
        said = f"{PATH}: {edited[0]} was edited since {plan_file('')} was written"
        raise InputError(f"{said}; run the same command again")


def root_files(params: Mapping[str, Any], planned: Planned) -> dict[Path, Files]:
    """Return, of params.yaml's study, paired tests, tables and what was measured inside, by folder. Raises InputError.

    Of another network than the paper's nothing is measured inside.
    """
    norm, study = get_param(params, "norm", str), root_study(params)
    _require_planned(params, study, planned)
    trained = TrainingSetup.of(params, study.names)
    results = read_results("", study, planned.runs).drop(columns="note")  # else its training has failed
    tested, answers = by_rule(results), cache(partial(read_answers, planned.runs))
    longest = longest_of_ranges(params, study)
    board = board_of_study(tested, study, longest, trained.sequences)
    metrics = {"results.csv": results, **comparison(tested, answers, read_csv(REFERENCE), norm, trained)}
    tables = board_table("params.yaml", study.question, board, longest, study.statistics)
    metrics |= {"board.csv": board, "board.md": tables}
    if trained.network != PAPER:
        metrics |= without_interventions(trained.network)
        return {METRICS: metrics, PLOTS / "proposition": {EXPONENTS: pd.DataFrame(columns=summary.DRAWN)}}
    proposed = read_measured("proposition", [run for run in planned.proposed if run.norm in ("none", norm)])
    laws = summary.exponents(proposed, get_param(params, "proposition.tail", Length))
    metrics |= recovery(read_measured("interventions", planned.intervened), trained)
    metrics["proposition.json"] = summary.summary(proposed, laws, norm)
    drawn = {"proposition.csv": rounded(summary.lines(proposed)), EXPONENTS: rounded(laws[summary.DRAWN])}
    return {METRICS: metrics, PLOTS / "proposition": drawn}
