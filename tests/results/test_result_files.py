import json
import re

import numpy as np
import pandas as pd
import pytest
from checkout import ROOT
from made_up_tests import PAPER, made_up
from scipy import stats

from vanishing_variance.claims.evidence import Evidence
from vanishing_variance.claims.judgement import judged
from vanishing_variance.claims.paper import CLAIMS
from vanishing_variance.engine.ranges import ranges_of
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.frames import read_csv, tidied
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.results.comparison import compare
from vanishing_variance.results.files import OVERVIEW, TrainingSetup, comparison, overview, recovery
from vanishing_variance.results.paired import OF_ANSWERS
from vanishing_variance.results.runs import REFERENCE, compared, lines_of, range_of
from vanishing_variance.results.schema import beside_accuracy, by_rule
from vanishing_variance.studies.board import board_of_study, board_table
from vanishing_variance.studies.root import root_study

PARAMS = read_yaml(ROOT / "tests/smoke.yaml")
LINES = ("none", "std", "ln")
STEPS = {(task, line): 5 for task in ("argmax", "dictionary") for line in LINES}
SHORT = TrainingSetup(dict.fromkeys(LINES, 2), dict.fromkeys(LINES, 16), STEPS, 512)


def overview_of(accuracy, **longest):
    """The overview of the treatment ln; `longest`: of training, by range."""
    lines = lines_of("ln", list(longest))
    of_lines = {line: longest[range_of(line)] for line in lines}
    frame = compare(accuracy, compared(lines), of_lines, 512, set(OVERVIEW.values()))
    return overview(frame, "ln")


def test_an_overview_is_of_the_lengths_beyond_training():
    accuracy = made_up(lengths=(16, 64, 16384))
    document = overview_of(accuracy, short=16)
    assert list(document) == ["argmax_averaged", "argmax_last", "dictionary_averaged", "dictionary_last"]
    last = accuracy.query("task == 'argmax' and rule == 'last' and length > 16")
    means = last.groupby(["line", "seed"])["accuracy"].mean().unstack("line") * 100
    assert document["argmax_last"]["none"] == round(means["none"].mean(), 2)
    assert document["argmax_last"]["gain"] == round((means["ln"] - means["none"]).mean(), 2)
    assert document["argmax_last"]["log10_p"] == round(np.log10(stats.ttest_rel(means["ln"], means["none"]).pvalue), 2)
    assert "argmax_long_averaged" in overview_of(accuracy, long=64)
    assert "argmax_averaged" not in overview_of(accuracy.query("rule != 'averaged'"), short=16)
    assert list(overview_of(made_up(seeds=1), short=16)["argmax_last"]) == ["none", "norm", "gain"]


def test_a_training_is_of_the_lines_of_the_study():
    setup = TrainingSetup.of(PARAMS, lines_of("std", ["short", "long"]))
    longest = {name: PARAMS["ranges"][name]["longest"] for name in ("short", "long")}
    of_long = dict.fromkeys((f"long-{line}" for line in LINES), longest["long"])
    assert setup.longest == dict.fromkeys(LINES, longest["short"]) | of_long
    assert setup.steps["argmax", "long-std"] == PARAMS["tasks"]["argmax"]["steps"]["long"]
    for wrong in ([], ["huge"], ["long"], ["short", "short"], "long"):
        with pytest.raises(InputError, match=r"^params.yaml: train_on(\[0\])? is [^\n]*; must "):
            ranges_of(PARAMS | {"train_on": wrong})


def test_of_one_seed_no_number_has_an_interval():
    files = comparison(made_up(seeds=1).query("line in @LINES"), None, PAPER, "ln", SHORT)
    ends = files["tables/tests.csv"].filter(regex="low$|high$")
    assert ends.isna().all(axis=None)
    texts = [text for name, text in files.items() if name.endswith(".md")]
    assert [text for text in texts if re.search(r"\[|\bnan\b|\binf\b", text)] == []


def test_the_tables_and_claims_in_git_follow_from_the_results_in_git():
    """Else: dvc repro. Shares of uncertainty are of single answers, which git has not."""
    metrics, plots = ROOT / "metrics", ROOT / "plots"
    params = read_yaml(ROOT / "params.yaml")
    results, paper = read_csv(metrics / "results.csv"), read_csv(REFERENCE)
    interventions = tidied(read_csv(metrics / "interventions/accuracy.csv"), "accuracy")
    trained = TrainingSetup.of(params, lines_of(params["norm"], ranges_of(params)))
    evidence = Evidence(
        accuracy=by_rule(results),
        mechanism=beside_accuracy(results),
        paper=paper,
        training=trained,
        interventions=interventions,
        exponents=read_csv(plots / "proposition/proposition-exponents.csv"),
        fits=read_csv(plots / "figures/figure1/figure1-fits.csv"),
        losses=read_csv(plots / "data/loss.csv"),
    )
    files = comparison(evidence.accuracy, None, paper, params["norm"], trained)
    tests, in_git = files.pop("tables/tests.csv"), read_csv(metrics / "tables/tests.csv")
    known = [name for name in in_git if name not in OF_ANSWERS]
    pd.testing.assert_frame_equal(tests[known], in_git[known])
    study = root_study(params)
    board = board_of_study(evidence.accuracy, study, {"short": 16}, 512)
    pd.testing.assert_frame_equal(read_csv(metrics / "board.csv"), board, check_dtype=False)
    files["board.md"] = board_table("params.yaml", study.question, board, {"short": 16}, study.statistics)
    files |= recovery(interventions, trained) | judged(CLAIMS, evidence)
    files.pop("interventions/accuracy.csv")
    for name, content in files.items():
        text = (metrics / name).read_text()
        assert (text if isinstance(content, str) else json.loads(text)) == content, name
