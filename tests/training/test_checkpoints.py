import errno
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from small import make_model, make_plan

from vanishing_variance.core import parallel
from vanishing_variance.core.arrays import read_about, read_arrays, write_arrays
from vanishing_variance.inference.stored import remove_finished_checkpoints
from vanishing_variance.model.initialisation import draw
from vanishing_variance.training import adam, checkpoints, ensemble
from vanishing_variance.training import loop as training

SEEDS = [0, 1]


def trained(plan, kept=None):
    """Weights and losses, as bytes."""
    weights = draw(plan.variant.initial(plan.task_training), plan.root_seed, plan.variant.task_name, SEEDS)
    losses = training.train(plan, weights, SEEDS, kept=kept)
    return {"losses": losses.tobytes(), **{name: tensor.numpy().tobytes() for name, tensor in weights.items()}}


def cut_off(plan, kept, monkeypatch, step):
    """A training that ends when it asks for the sequences of a step, and has made a checkpoint just before."""

    def some(*arguments):
        for made, batch in enumerate(original(*arguments), arguments[2]):
            if made == step:
                raise KeyboardInterrupt
            if made == step - 1:
                checkpoints.SECONDS_BETWEEN = 0.0
            yield batch

    original = training.batches
    with monkeypatch.context() as patched:
        patched.setattr(training, "batches", some)
        patched.setattr(checkpoints, "SECONDS_BETWEEN", checkpoints.SECONDS_BETWEEN)  # put back afterwards
        with pytest.raises(KeyboardInterrupt):
            trained(plan, kept)


@pytest.mark.parametrize("steps", [[1], [99], [100], [101], [256], [7, 255, 257, 258]])
def test_a_training_that_was_cut_off_ends_with_the_same_bits(task_name, tmp_path, monkeypatch, steps):
    plan = make_plan(task_name, "ln", steps=270, weight_decay=0.01, decay="cosine" if len(steps) > 1 else "none")
    kept = tmp_path / "new" / "0.safetensors"
    whole = trained(plan)
    for step in steps:
        cut_off(plan, kept, monkeypatch, step)
        assert read_about(kept)["made"] == step
    monkeypatch.setattr(training, "losses", counted(monkeypatch, calls := []))
    assert trained(plan, kept) == whole
    assert len(calls) == 270 - steps[-1]
    assert trained(plan, kept) == whole
    assert len(calls) == 270 - steps[-1]


def test_the_steps_of_a_checkpoint_are_reported(tmp_path, monkeypatch):
    plan, kept, reported = make_plan("argmax", steps=20), tmp_path / "0.safetensors", []
    cut_off(plan, kept, monkeypatch, 6)
    weights = draw(plan.variant.initial(plan.task_training), plan.root_seed, plan.variant.task_name, SEEDS)
    training.train(plan, weights, SEEDS, reported.append, kept)
    assert reported == [12, 28]


def counted(monkeypatch, calls):
    original = training.losses
    return lambda *arguments: calls.append(1) or original(*arguments)


@pytest.mark.parametrize("change", ["plain optimiser", "tanh", "biases"])
def test_so_does_one_that_is_not_compiled(tmp_path, monkeypatch, change):
    model = make_model(**{"tanh": {"gelu": "tanh"}, "biases": {"attention_biases": True}}.get(change, {}))
    if change == "plain optimiser":
        monkeypatch.setattr(adam, "library", lambda: None)
    plan, kept = make_plan("dictionary", "std", steps=30, model=model), tmp_path / "0.safetensors"
    whole = trained(plan)
    cut_off(plan, kept, monkeypatch, 17)
    assert trained(plan, kept) == whole


@pytest.mark.parametrize("damage", ["truncated", "a flipped bit", "another shape", "empty", "another array"])
def test_a_checkpoint_that_is_damaged_is_not_used_and_a_line_says_so(tmp_path, monkeypatch, capsys, damage):
    plan, kept = make_plan("argmax", steps=12), tmp_path / "0.safetensors"
    whole = trained(plan)
    cut_off(plan, kept, monkeypatch, 6)
    content, arrays = bytearray(kept.read_bytes()), read_arrays(kept)
    if damage == "truncated":
        kept.write_bytes(content[:-1])
    elif damage == "a flipped bit":
        content[-5] ^= 16
        kept.write_bytes(content)
    elif damage == "another shape":
        write_arrays(kept, arrays | {"weights.query.2.bias": np.zeros((2, 7), np.float32)}, made=6, steps=12)
    elif damage == "empty":
        kept.write_bytes(b"")
    else:
        write_arrays(kept, {"weights.more": np.zeros(2, np.float32), **arrays}, made=6, steps=12)
    capsys.readouterr()
    assert trained(plan, kept) == whole
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "the training starts anew" in said
    assert str(kept) in said
    assert read_about(kept)["made"] == 12


def test_a_checkpoint_that_cannot_be_written_does_not_end_the_training(tmp_path, monkeypatch, capsys):
    plan = make_plan("argmax", steps=12)
    whole = trained(plan)
    (tmp_path / "file").write_text("")
    assert trained(plan, tmp_path / "file" / "0.safetensors") == whole
    assert "the training goes on without this checkpoint: " in capsys.readouterr().err


def test_only_the_same_training_has_the_same_fingerprint(monkeypatch, tmp_path):
    plan = make_plan("argmax")
    others = [
        replace(plan, root_seed=1),
        replace(plan, range_name="long"),
        replace(plan, steps=21),
        replace(plan, training=plan.training.model_copy(update={"learning_rate": 0.0100001})),
        make_plan("argmax", "rms"),
        make_plan("dictionary"),
    ]
    fingerprints = {checkpoints.fingerprint(one, SEEDS) for one in (plan, *others)}
    assert checkpoints.fingerprint(make_plan("argmax"), [0, 1]) in fingerprints
    assert len(fingerprints | {checkpoints.fingerprint(plan, [0, 2])}) == len(others) + 2
    before = checkpoints.fingerprint(plan, SEEDS)
    monkeypatch.setattr(torch, "__version__", "0.1")
    assert checkpoints.fingerprint(plan, SEEDS) != before
    monkeypatch.undo()
    source = tmp_path / "adam.py"
    source.write_text("changed")
    monkeypatch.setattr(sys.modules["vanishing_variance.training.compiled_adam"], "__file__", str(source))
    assert checkpoints.fingerprint(plan, SEEDS) != before
    source.with_suffix(".c").write_text("changed, too")
    assert len({before, checkpoints.fingerprint(plan, SEEDS)}) == 2


def test_checkpoints_of_other_parameters_stay_and_are_found_again(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(parallel, "cores", lambda: 1)
    plan, other = (make_plan("argmax", steps=20, seeds_per_process=1, learning_rate=rate) for rate in (1e-2, 1e-3))
    whole = ensemble.train_block(plan, SEEDS)
    ensemble.train_block(plan, SEEDS, kept=tmp_path)
    first = {path: path.read_bytes() for path in tmp_path.iterdir()}
    assert len(first) == 2
    capsys.readouterr()
    ensemble.train_block(other, SEEDS, kept=tmp_path)
    assert (
        f"train argmax-short-ln-0: {tmp_path} has 2 checkpoints of other parameters or code\n"
        in capsys.readouterr().err
    )
    assert len(list(tmp_path.iterdir())) == 4
    assert {path: path.read_bytes() for path in first} == first
    weights, losses = ensemble.train_block(plan, SEEDS, kept=tmp_path)
    assert losses.equals(whole[1])
    assert all(np.array_equal(weights[name], whole[0][name]) for name in weights)


def test_checkpoints_are_cleared_of_the_training_that_led_to_the_weights_and_of_no_other(tmp_path, monkeypatch):
    weights = {"bias": np.arange(4.0), "matrix": np.arange(8.0).reshape(4, 2)}
    for name, seeds, made, changed in (
        *(("first", slice(0, 2), 20, 0), ("second", slice(2, 4), 20, 0)),
        *(("unfinished", slice(0, 2), 19, 0), ("of other parameters", slice(0, 2), 20, 1)),
    ):
        arrays = {f"weights.{key}": array[seeds] + changed * (key == "matrix") for key, array in weights.items()}
        write_arrays(tmp_path / f"{name}.safetensors", {**arrays, "history": np.zeros(3)}, made=made, steps=20)
    write_arrays(tmp_path / "of another network.safetensors", {"weights.bias": np.arange(2.0)}, made=20, steps=20)
    (tmp_path / "damaged.safetensors").write_bytes(b"damaged")
    remove_finished_checkpoints(tmp_path, weights)
    remove_finished_checkpoints(tmp_path / "missing", weights)
    left = ["damaged", "of another network", "of other parameters", "unfinished"]
    assert sorted(path.stem for path in tmp_path.iterdir()) == left


def test_a_checkpoint_that_cannot_be_removed_is_left(tmp_path, monkeypatch):
    def refuse(path):
        raise OSError(errno.EROFS, "Read-only file system")

    weights = {"bias": np.arange(4.0)}
    write_arrays(tmp_path / "a.safetensors", {"weights.bias": weights["bias"]}, made=20, steps=20)
    with monkeypatch.context() as patched:
        patched.setattr(Path, "unlink", refuse)  # the superuser may remove what nobody else may
        remove_finished_checkpoints(tmp_path, weights)
    assert [path.name for path in tmp_path.iterdir()] == ["a.safetensors"]
