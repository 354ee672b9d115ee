import re

import numpy as np
import pytest
from checkout import ROOT
from made_up_tests import PAPER, made_up
from scipy import stats

from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.results.files import TrainingSetup, comparison, overview

PARAMS = read_yaml(ROOT / "tests/smoke.yaml")
STEPS = {(task, name): 5 for task in ("argmax", "dictionary") for name in ("short", "long")}
SHORT = TrainingSetup({"short": 2}, {"short": 16}, STEPS, 512)


def test_an_overview_is_of_the_lengths_beyond_training():
    accuracy = made_up(lengths=(16, 64, 16384))
    document = overview(accuracy, "ln", {"short": 16, "long": 16384})
    assert list(document) == ["argmax_averaged", "argmax_last", "dictionary_averaged", "dictionary_last"]
    last = accuracy.query("task == 'argmax' and range == 'short' and rule == 'last' and length > 16")
    means = last.groupby(["norm", "seed"])["accuracy"].mean().unstack("norm") * 100
    assert document["argmax_last"]["none"] == round(means["none"].mean(), 2)
    assert document["argmax_last"]["gain"] == round((means["ln"] - means["none"]).mean(), 2)
    assert document["argmax_last"]["log10_p"] == round(np.log10(stats.ttest_rel(means["ln"], means["none"]).pvalue), 2)
    assert "argmax_long_averaged" in overview(accuracy, "ln", {"long": 64})
    assert "argmax_averaged" not in overview(accuracy.query("rule != 'averaged'"), "ln", {"short": 16})
    assert list(overview(made_up(seeds=1), "ln", {"short": 16})["argmax_last"]) == ["none", "norm", "gain"]


def test_a_training_is_on_the_ranges_of_the_study():
    short = TrainingSetup.of(PARAMS | {"train_also_on": []})
    both = TrainingSetup.of(PARAMS | {"train_also_on": ["long"]})
    assert list(short.longest) == list(short.shortest) == ["short"]
    assert list(both.longest) == list(both.shortest) == ["short", "long"]
    assert set(both.steps) - set(short.steps) == {("argmax", "long"), ("dictionary", "long")}
    for wrong in (["short"], ["long", "long"], "long"):
        with pytest.raises(InputError, match=r"^params.yaml: train_also_on(\[0\])? is [^\n]*; must be "):
            TrainingSetup.of(PARAMS | {"train_also_on": wrong})


def test_of_one_seed_no_number_has_an_interval():
    files = comparison(made_up(seeds=1).query("range == 'short'"), None, PAPER, "ln", SHORT)
    ends = files["tables/tests.csv"].filter(regex="low$|high$")
    assert ends.isna().all(axis=None)
    texts = [text for name, text in files.items() if name.endswith(".md")]
    assert [text for text in texts if re.search(r"\[|\bnan\b|\binf\b", text)] == []
