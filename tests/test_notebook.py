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
from checkout import ROOT
from small import smoke

import vanishing_variance
from vanishing_variance import evaluate, notebook, read_params, train
from vanishing_variance.engine.streams import stream
from vanishing_variance.harness import parallel
from vanishing_variance.harness.errors import InputError
from vanishing_variance.measure import tested
from vanishing_variance.measure.config import Diagnostics
from vanishing_variance.measure.evaluation import fast_models
from vanishing_variance.measure.evaluation.fast_models import evaluate_block
from vanishing_variance.measure.inference.models import select_models
from vanishing_variance.measure.inference.sequences import of_length
from vanishing_variance.params import changed

SMOKE = ROOT / "tests/smoke.yaml"
pytestmark = pytest.mark.trains


def trained(attention):
    return train(smoke(), "argmax", "ln", seeds=[0, 3], attention=attention, steps=2)


@pytest.mark.parametrize("attention", ["softmax", "length_gain"])
def test_accuracies_are_those_of_the_pipeline(attention):
    both = trained(attention)
    assert both.plan.variant.attention_name == attention
    assert repr(both) == f"Trained(argmax, ln, {attention}, network paper, seeds [0, 3], 2 steps)"
    assert both.losses.groupby("seed")["step"].max().tolist() == [2, 2]
    second = slice(1, None)
    kept = {"averaged": select_models(both.kept["averaged"], second)}
    one = replace(both, seeds=[3], weights=select_models(both.weights, second), kept=kept)
    variant, lengths, look = one.plan.variant, [4, 16, 64], Diagnostics(sequences=2, heatmap_sequences=1)

    def read(length, size):
        yield from of_length(variant.task, stream(0, "test", "argmax", length), 64, length, size)

    sequences = {length: partial(read, length) for length in lengths}
    _, frames = evaluate_block(one.plan, {"last": one.weights, **kept}, one.seeds, sequences, look)
    pd.testing.assert_frame_equal(evaluate(one), frames["accuracy"])


WHOLE = "different whole numbers from"


@pytest.mark.parametrize(
    ("changes", "path", "said"),
    [
        ({"model.wide": 3}, SMOKE, r"it has no key model\.wide; choose from width, "),
        ([("width", 8)], SMOKE, "^changes is .*; must be a mapping of dotted keys to values$"),
        ({}, True, "^path is True; must be that of a file$"),
        ({"network": "transformer", "model.width": 24}, SMOKE, "^network transformer does not read model.width; its "),
    ],
)
def test_parameters_that_there_are_not_are_one_line(changes, path, said):
    with pytest.raises(InputError, match=said):
        read_params(changes, path)


def test_options_are_given_by_their_keys():
    params = read_params({"network": "transformer", "network_options.layers": 3}, SMOKE)
    assert params["network_options"] == {"layers": 3}
    assert changed({}, {"norm_options.power": 2}) == {"norm_options": {"power": 2}}


def test_what_is_tested_is_whole_numbers_within_the_task():
    params = smoke()
    models = train(params, "dictionary", "ln", np.arange(1), steps=2)
    assert models.seeds == [0]
    params["test"]["lengths"] = [4]  # of other trainings
    assert evaluate(models)["length"].max() == 64
    for lengths in ([], 16, [0], [16.0], [True], [4, 4], [65]):
        with pytest.raises(InputError, match=rf"^lengths is .*; must be {WHOLE} 1 to 64, such as \[16, 64\]$"):
            evaluate(models, lengths)
    for sequences in (0, True, 2.0, [2]):
        with pytest.raises(InputError, match=r"^sequences is .*; must be a whole number from 1 on$"):
            evaluate(models, [4], sequences)
    with pytest.raises(InputError, match=r"^trained is .*; must be what train returned$"):
        evaluate(models.params)
    expected = evaluate(models, [4, 8], 4)
    for lengths in (np.array([8, 4]), (length for length in (4, 8))):
        pd.testing.assert_frame_equal(evaluate(models, lengths, np.int64(4)), expected)


def settings():
    denormal = torch.full((1,), torch.finfo(torch.float32).tiny) / 2
    determinism = torch.get_deterministic_debug_mode(), torch.utils.deterministic.fill_uninitialized_memory
    random = torch.get_rng_state().tolist()
    return torch.get_num_threads(), bool(denormal.any()), determinism, random, gc.get_freeze_count()


@pytest.mark.parametrize("network", [None, "transformer"])
def test_the_callers_process_is_left_as_it_was_and_the_work_has_one_thread(network, monkeypatch):
    threads = []

    def counted(*_):
        threads.append(torch.get_num_threads())
        return pd.DataFrame()

    for room in (tested, fast_models):
        monkeypatch.setattr(room, "accuracies", counted)
    torch.set_flush_denormal(False)
    torch.set_num_threads(3)
    try:
        before = settings()
        models = train(smoke(), "argmax", "ln", [0], network=network, steps=2)
        assert settings() == before
        evaluate(models, [4], 10)
        assert settings() == before
        for room in (tested, fast_models):
            monkeypatch.setattr(room, "accuracies", refuse)
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


def test_the_example_in_the_readme_runs(tmp_path, monkeypatch, capsys):
    """With the parameters of the folder."""
    [code] = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    assert read_params() == read_params(path=ROOT / "params.yaml")
    shutil.copy(SMOKE, "params.yaml")
    assert read_params() == smoke()
    names = {"__name__": "__main__"}
    exec(code.replace("2000", "2").replace("sequences=256", "sequences=8"), names)
    assert names["curve"].index.tolist() == [16, 64, 256, 1024]
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == ["none", "ln"]
