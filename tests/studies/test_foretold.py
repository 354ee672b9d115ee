"""What is foretold from short sequences, of made-up logits and of a small model."""

import runpy

import numpy as np
import pytest
from checkout import ROOT
from scipy import stats
from small import SHARP, make_trained, models_of, plan_of

from vanishing_variance.engine.streams import stream

SCRIPT = runpy.run_path(str(ROOT / "studies/where/foretold.py"))


def test_the_table_in_git_follows_from_the_numbers_in_git():
    for name, text in SCRIPT["tables"]().items():
        assert text == (ROOT / "studies/where" / name).read_text(encoding="utf-8")


@pytest.mark.parametrize(("drawn", "target"), [(stats.norm(), 0.0), (stats.norm(), 2.5), (stats.expon(), 8.0)])
def test_the_tail_is_that_of_the_distribution(drawn, target):
    logits = drawn.rvs(2**16, random_state=0)
    found = SCRIPT["tail"](logits - target, np.ones(len(logits), dtype=bool))
    assert found == pytest.approx(drawn.sf(target), rel=0.5)


def test_the_smallest_lengths_are_foretold_as_they_are_of_a_sharp_model():
    """Of a model whose logits are the same for all lengths: what is foretold of twice the training length holds."""
    trained = make_trained("dictionary", "none", SHARP["dictionary"])
    models, plan = models_of(trained, 0), plan_of(trained)
    [(length, misranked, accuracy)] = SCRIPT["of_model"](models, plan, [18])
    drawn = trained.variant.task.sample(stream(0, "here"), 4000, length)
    attended = models.attended(drawn)
    is_other = attended.largest[0].numpy() != drawn["target"]
    right = models.answers_as_trained(drawn, attended)["last"][0].numpy() == 1
    assert misranked == pytest.approx(is_other.mean(), abs=0.1)
    assert accuracy == pytest.approx(right.mean(), abs=0.15)
