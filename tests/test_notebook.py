"""The front door for notebooks."""

import gc
import re
import shutil
import tomllib
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from torch import nn

import vanishing_variance
from vanishing_variance import evaluate, inside, notebook, read_params, train
from vanishing_variance.engine.streams import stream
from vanishing_variance.harness import parallel
from vanishing_variance.harness.errors import InputError
from vanishing_variance.measure.evaluation.config import Diagnostics
from vanishing_variance.measure.evaluation.fast_models import EvaluationPlan, evaluate_block
from vanishing_variance.measure.inference.models import select_models
from vanishing_variance.measure.inference.sequences import of_length

ROOT = Path(__file__).resolve().parents[1]
SMOKE = ROOT / "tests/smoke.yaml"
pytestmark = pytest.mark.trains


def smoke(changes=None):
    steps = {f"tasks.{task}.steps.short": 2 for task in ("argmax", "dictionary")}
    return read_params(steps | (changes or {}), SMOKE)


def trained(attention):
    return train(smoke(), "argmax", "ln", seeds=[0, 3], attention=attention)


@pytest.mark.parametrize("attention", ["softmax", "length_gain"])
def test_accuracies_are_those_of_the_pipeline(attention):
    both = trained(attention)
    assert both.plan.variant.attention_name == attention
    assert repr(both) == "Trained(argmax, ln, network paper, seeds [0, 3], 2 steps)"
    assert both.losses.groupby("seed")["step"].max().tolist() == [2, 2]
    second = slice(1, None)
    kept = {"averaged": select_models(both.kept["averaged"], second)}
    one = replace(both, seeds=[3], weights=select_models(both.weights, second), kept=kept)
    variant, lengths, look = one.plan.variant, [4, 16, 64], Diagnostics(sequences=2, heatmap_sequences=1)
    plan = EvaluationPlan("test", 0, variant, "short", one.plan.lengths, look)

    def read(length, size):
        yield from of_length(variant.task, stream(0, "test", "argmax", length), 64, length, size)

    sequences = {length: partial(read, length) for length in lengths}
    _, frames = evaluate_block(plan, {"last": one.weights, **kept}, one.seeds, sequences)
    pd.testing.assert_frame_equal(evaluate(one), frames["accuracy"])
    with pytest.raises(InputError, match=r"^not measured here; train with a network, such as network='paper'$"):
        inside(one)


def test_mistakes_are_one_line():
    with pytest.raises(InputError, match=r"it has no key model\.wide$"):
        read_params({"model.wide": 3}, SMOKE)
    with pytest.raises(InputError, match="norms: 'layer' is unknown; choose from centred_rms, ln, none, rms, std"):
        train(smoke(), "argmax", "layer", seeds=[0])


SEEDS = r"different whole numbers from 0 to 2147483647, such as range\(4\)$"
LENGTHS = r"different whole numbers from 1 to 64, such as \[16, 64\]$"
# By argument: values that are not taken, and what is.
NOT_SEEDS = (4, None, "0", "", [], [0, 0], [-1], [0.5], [True], [np.True_], [np.float64(1)], ["1"], [2**31])
NOT_LENGTHS = ([], (), 0, 16, "16", [0], [-3], [16.0], [True], [4, 4], [None], [65], np.array([]), np.array([4.0]))
NOT_SEQUENCES = (0, -1, True, 2.0, np.float64(2), "2", "", [], [2], np.array([2]))
NOT_MAPPINGS = (0, "", "width", [], [("width", 8)])


@pytest.mark.parametrize("values", NOT_SEEDS)
def test_seeds_that_are_none_are_one_line(values):
    with pytest.raises(InputError, match=rf"^seeds is .*; must be {SEEDS}"):
        train(smoke(), "argmax", "ln", values)


@pytest.mark.parametrize("attention", ["", "soft"])
def test_only_none_means_the_attention_of_the_parameters(attention):
    with pytest.raises(InputError, match=r"^attentions: .* is unknown; choose from"):
        train(smoke(), "argmax", "ln", [0], attention=attention)


@pytest.mark.parametrize("values", NOT_MAPPINGS)
def test_what_is_no_mapping_is_one_line(values):
    with pytest.raises(InputError, match=r"^options is .*; must be a mapping of names to values$"):
        train(smoke(), "argmax", "ln", [0], network="transformer", options=values)
    with pytest.raises(InputError, match=r"^changes is .*; must be a mapping of dotted keys to values$"):
        read_params(values)


@pytest.mark.parametrize("key", [3, "", "norm.l", "seed.x", "blocks.0"])
def test_a_key_that_there_is_not_is_one_line(key):
    with pytest.raises(InputError, match=r"^params\.yaml: it has no key"):
        read_params({key: 1})


@pytest.mark.parametrize("params", [{}, None, [], "params.yaml", 0])
def test_parameters_that_are_not_whole_are_one_line(params):
    with pytest.raises(InputError, match=r"^params\.yaml: .*; .*must "):
        train(params, "argmax", "ln", range(2))


def test_a_file_of_parameters_may_be_text_and_nothing_else():
    assert read_params(path=str(SMOKE)) == read_params(path=SMOKE)
    with pytest.raises(InputError, match=r"^path is True; must be that of a file$"):
        read_params(path=True)


class Bag(nn.Module):
    def __init__(self, sizes, norm):
        super().__init__()
        self.head = nn.Linear(sizes.items, sizes.classes)

    def forward(self, items, query):
        return self.head(items.mean(1))


@pytest.mark.parametrize("network", [Bag, "transformer"])
def test_an_attention_map_that_a_network_does_not_have_is_refused_wherever_it_is_named(network):
    params = smoke({"attention": "power"})
    with pytest.raises(InputError, match=r"^attention is power; no other network than paper has an attention map by"):
        train(params, "argmax", "ln", [0], network=network)


def test_options_are_those_of_the_parameters_where_the_network_is():
    params = smoke({"network": "transformer", "network_options": {"layers": 1, "width": 8}})
    assert train(params, "argmax", "ln", [0], network="transformer").plan.options == {"layers": 1, "width": 8}
    assert train(params, "argmax", "ln", [0], network="transformer", options={}).plan.options == {}


def test_what_is_tested_is_whole_numbers_within_the_task():
    params = smoke()
    models = train(params, "dictionary", "ln", np.arange(1))
    assert models.seeds == [0]
    params["test"]["lengths"] = [4]  # of other trainings
    assert evaluate(models)["length"].max() == 64
    for lengths in NOT_LENGTHS:
        with pytest.raises(InputError, match=rf"^lengths is .*; must be {LENGTHS}"):
            evaluate(models, lengths)
    for sequences in NOT_SEQUENCES:
        with pytest.raises(InputError, match=r"^sequences is .*; must be a whole number from 1 on$"):
            evaluate(models, [4], sequences)
    for other in (None, models.params):
        with pytest.raises(InputError, match=r"^trained is .*; must be what train returned$"):
            evaluate(other)
    expected = evaluate(models, [4, 8], 4)
    for lengths in (np.array([8, 4]), (4, 8), range(4, 9, 4), (length for length in (4, 8))):
        pd.testing.assert_frame_equal(evaluate(models, lengths, np.int64(4)), expected)


def settings():
    denormal = torch.full((1,), torch.finfo(torch.float32).tiny) / 2
    determinism = torch.get_deterministic_debug_mode(), torch.utils.deterministic.fill_uninitialized_memory
    random = torch.get_rng_state().tolist()
    return torch.get_num_threads(), bool(denormal.any()), determinism, random, gc.get_freeze_count()


@pytest.mark.parametrize("network", [None, "transformer"])
def test_the_callers_process_is_left_as_it_was_and_the_work_has_one_thread(network, monkeypatch):
    threads = []
    monkeypatch.setattr(notebook, "accuracies", lambda *_: threads.append(torch.get_num_threads()))
    torch.set_flush_denormal(False)
    torch.set_num_threads(3)
    try:
        before = settings()
        models = train(smoke(), "argmax", "ln", [0], network=network)
        assert settings() == before
        evaluate(models, [4], 10)
        assert settings() == before
        monkeypatch.setattr(notebook, "accuracies", refuse)
        with pytest.raises(ZeroDivisionError):
            evaluate(models, [4], 10)
        assert settings() == before
    finally:
        torch.set_num_threads(1)
    assert threads == [1]


def refuse(*_):
    raise ZeroDivisionError


def test_over_the_cores_accuracies_are_the_same(monkeypatch):
    models = trained("softmax")
    here = evaluate(models, [4, 16], 10)
    monkeypatch.setattr(parallel, "cores", lambda: 2)
    monkeypatch.setattr(notebook, "SMALL", 0)
    pd.testing.assert_frame_equal(evaluate(models, [4, 16], 10), here)


def test_the_package_says_what_it_is():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert vanishing_variance.__version__ == project["project"]["version"]
    assert {"__version__", "evaluate", "read_params", "train"} <= set(dir(vanishing_variance))
    assert Path(vanishing_variance.__file__).with_name("py.typed").exists()
    assert "py.typed" in project["tool"]["setuptools"]["package-data"]["*"]


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
