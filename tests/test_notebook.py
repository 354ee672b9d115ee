"""The front door for notebooks."""

import re
import shutil
from dataclasses import replace
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

from vanishing_variance import evaluate, inside, read_params, train
from vanishing_variance.engine.streams import stream
from vanishing_variance.harness.errors import InputError
from vanishing_variance.measure.evaluation.block import EvaluationPlan, evaluate_block
from vanishing_variance.measure.evaluation.config import Diagnostics
from vanishing_variance.measure.inference.models import select_models
from vanishing_variance.measure.inference.sequences import of_length
from vanishing_variance.measure.inference.temperature import UNCHANGED

ROOT = Path(__file__).resolve().parents[1]
pytestmark = pytest.mark.trains


def trained(attention):
    params = read_params({"tasks.argmax.steps.short": 2}, ROOT / "tests/smoke.yaml")
    return train(params, "argmax", "ln", seeds=[0, 3], attention=attention)


@pytest.mark.parametrize("attention", ["softmax", "length_gain"])
def test_accuracies_are_those_of_the_pipeline(attention):
    both = trained(attention)
    assert both.plan.variant.attention_name == attention
    assert repr(both) == "Trained(argmax, ln, network paper, seeds [0, 3], 2 steps)"
    assert both.losses.groupby("seed")["step"].max().tolist() == [2, 2]
    others = {"averaged": select_models(both.others["averaged"], slice(1, None))}
    one = replace(both, seeds=[3], weights=select_models(both.weights, slice(1, None)), others=others)
    variant, lengths, look = one.plan.variant, [4, 16, 64], Diagnostics(sequences=2, heatmap_sequences=1)
    unchanged = dict.fromkeys(("first", "second"), UNCHANGED)
    plan = EvaluationPlan("test", 0, variant, lengths, "short", one.plan.lengths, look, unchanged)

    def read(length, size):
        yield from of_length(variant.task, stream(0, "test", "argmax", length), 64, length, size)

    sequences = {length: partial(read, length) for length in lengths}
    _, frames = evaluate_block(plan, one.weights, others, one.seeds, sequences)
    theirs = frames["accuracy"].query("rule != 'fitted'").reset_index(drop=True)
    pd.testing.assert_frame_equal(evaluate(one), theirs)
    with pytest.raises(InputError, match=r"^not measured here; train with a network, such as network='paper'$"):
        inside(one)


def test_mistakes_are_one_line():
    with pytest.raises(InputError, match=r"it has no key model\.wide$"):
        read_params({"model.wide": 3}, ROOT / "tests/smoke.yaml")
    with pytest.raises(InputError, match="norms: 'layer' is unknown; choose from centred_rms, ln, none, rms, std"):
        train(read_params(path=ROOT / "tests/smoke.yaml"), "argmax", "layer", seeds=[0])
    for seeds in (4, [0, 0], [-1], [0.5], []):
        with pytest.raises(InputError, match=r"^seeds is .*; must be different whole numbers from 0 on, such as range"):
            train(read_params(path=ROOT / "tests/smoke.yaml"), "argmax", "ln", seeds=seeds)


@pytest.mark.parametrize("has_own", [True, False])
def test_the_example_in_the_readme_runs(has_own, tmp_path, monkeypatch):
    [code] = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    if has_own:
        shutil.copy(ROOT / "tests/smoke.yaml", "params.yaml")
    names = {"__name__": "__main__"}
    exec(code.replace("2000", "2"), names)
    assert names["curve"].index.tolist() == [16, 64, 256, 1024]
    legend = names["plt"].gca().get_legend()
    names["plt"].close()
    assert [text.get_text() for text in legend.get_texts()] == ["none", "ln"]
    assert Path("accuracy.png").exists()
