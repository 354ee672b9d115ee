"""The front door for notebooks."""

import ast
import re
import shutil
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import vanishing_variance
from vanishing_variance import evaluate, read_params, train
from vanishing_variance.core.errors import InputError
from vanishing_variance.core.paths import Run
from vanishing_variance.core.seeding import stream
from vanishing_variance.evaluation.block import EvaluationPlan, evaluate_block
from vanishing_variance.evaluation.config import Diagnostics
from vanishing_variance.inference.temperature import UNCHANGED

ROOT = Path(__file__).resolve().parents[1]


def read(task, sequences, length, size):
    yield task.sample(stream(0, "test", "argmax", length), sequences, length)


@pytest.fixture(scope="module")
def trained():
    params = read_params({"tasks.argmax.steps.short": 30}, ROOT / "tests/smoke.yaml")
    return train(params, "argmax", "ln", seeds=[0, 3])


def test_a_variant_is_trained_and_evaluated_without_dvc(trained):
    assert trained.losses.groupby("seed")["step"].max().tolist() == [30, 30]
    accuracy = evaluate(trained, lengths=[4, 64], sequences=50)
    assert accuracy.groupby(["temperature", "length"])["seed"].apply(list).tolist() == [[0, 3]] * 4
    assert accuracy["accuracy"].between(0, 1).all()


def test_accuracies_are_those_of_the_pipeline(trained):
    plan, test = trained.plan, trained.params["test"]

    evaluated = evaluate_block(
        EvaluationPlan(
            str(Run("argmax", "short", "ln", 0)),
            0,
            plan.variant,
            test["lengths"],
            "short",
            plan.lengths,
            Diagnostics(sequences=2, heatmap_sequences=1),
            {"first": UNCHANGED, "second": UNCHANGED},
        ),
        trained.weights,
        trained.seeds,
        {length: partial(read, plan.variant.task, test["sequences"], length) for length in test["lengths"]},
    )
    theirs = evaluated.frames["accuracy"].query("temperature != 'fitted'").reset_index(drop=True)
    ours = evaluate(trained).sort_values(["seed", "temperature", "length"], ignore_index=True)
    pd.testing.assert_frame_equal(ours, theirs)
    assert np.isfinite(ours["accuracy"]).all()


def test_mistakes_are_one_line():
    with pytest.raises(InputError, match=r"it has no key model\.wide$"):
        read_params({"model.wide": 3}, ROOT / "tests/smoke.yaml")
    with pytest.raises(InputError, match="norms: 'layer' is unknown; choose from centred_rms, ln, none, rms, std"):
        train(read_params(path=ROOT / "tests/smoke.yaml"), "argmax", "layer", seeds=[0])
    with pytest.raises(AttributeError, match="has no attribute 'fit'"):
        _ = vanishing_variance.fit


def test_the_example_in_the_readme_runs(tmp_path, monkeypatch, capsys):
    [code] = re.findall(
        r"```python\n(from vanishing_variance import.*?)```", (ROOT / "README.md").read_text(), re.DOTALL
    )
    shutil.copy(ROOT / "tests/smoke.yaml", tmp_path / "params.yaml")
    monkeypatch.chdir(tmp_path)
    exec(code.replace("2000", "20"), {})
    printed = [line.partition(" ") for line in capsys.readouterr().out.splitlines()]
    assert [norm for norm, _, _ in printed] == ["none", "ln"]
    assert all(set(ast.literal_eval(said)) == {16, 256} for _, _, said in printed)
