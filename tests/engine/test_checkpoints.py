import sys
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from small import cut_off, make_short, start

from vanishing_variance.engine import adam, block, checkpoints, loop
from vanishing_variance.engine.steps import FastSteps, losses
from vanishing_variance.harness.arrays import read_about, read_arrays, write_arrays
from vanishing_variance.measure.inference.stored import remove_finished_checkpoints

SEEDS = [0, 1]
pytestmark = [pytest.mark.trains, pytest.mark.usefixtures("record_every_five_steps")]


def trained(plan, kept=None, report=lambda done: None):
    """Losses, and the last weights and others, as bytes."""
    weights = start(plan, SEEDS)
    losses, others = loop.train(plan, FastSteps(plan, weights), SEEDS, report, kept)
    of_all = {"losses": losses.tobytes()}
    for kind, tensors in {"last": weights, **others}.items():
        for name, tensor in tensors.items():
            of_all[f"{kind}.{name}"] = tensor.numpy().tobytes()
    return of_all


@pytest.mark.parametrize(
    ("task", "decay", "steps", "compiled"),
    [
        ("argmax", "none", [1], True),
        ("argmax", "cosine", [6], False),
        ("dictionary", "none", [5], False),
        ("dictionary", "cosine", [3, 8, 9], True),
    ],
)
def test_a_training_that_was_cut_off_ends_with_the_same_bits(task, decay, steps, compiled, tmp_path, monkeypatch):
    if not compiled:
        monkeypatch.setattr(adam, "library", lambda: None)
    # the mean is over the weights after steps 2 and 12
    plan = make_short(task, weight_decay=0.01, decay=decay, averaged_part=0.9, kept_steps=[4, 8])
    kept = tmp_path / "new" / "0.safetensors"
    whole = trained(plan)
    for step in steps:
        cut_off(lambda: trained(plan, kept), step)
        assert read_about(kept)["completed"] == step
    calls, reported, original = [], [], losses
    monkeypatch.setattr(
        "vanishing_variance.engine.steps.losses", lambda *arguments: calls.append(1) or original(*arguments)
    )
    assert trained(plan, kept, reported.append) == whole
    assert reported[0] == 2 * steps[-1]
    assert sum(reported) == 2 * 12
    assert trained(plan, kept) == whole
    assert len(calls) == 12 - steps[-1]


@pytest.mark.parametrize("damage", ["a flipped bit", "another shape"])
def test_a_checkpoint_that_is_damaged_is_not_used_and_a_line_says_so(tmp_path, capsys, damage):
    plan, kept = make_short("argmax"), tmp_path / "0.safetensors"
    whole = trained(plan)
    cut_off(lambda: trained(plan, kept), 6)
    content, arrays = bytearray(kept.read_bytes()), read_arrays(kept)
    if damage == "a flipped bit":
        content[-5] ^= 16
        kept.write_bytes(content)
    else:
        write_arrays(kept, arrays | {"weights.query.2.bias": np.zeros((2, 7), np.float32)}, completed=6)
    capsys.readouterr()
    assert trained(plan, kept) == whole
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert str(kept) in said
    assert read_about(kept)["completed"] == 12


def test_a_checkpoint_that_cannot_be_written_does_not_end_the_training(tmp_path, capsys):
    plan = make_short("argmax")
    whole = trained(plan)
    (tmp_path / "file").write_text("")
    kept = tmp_path / "file" / "0.safetensors"
    assert trained(plan, kept) == whole
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert str(kept.parent) in said


def test_only_the_same_training_has_the_same_fingerprint(monkeypatch, tmp_path):
    plan = make_short("argmax")
    others = [
        replace(plan, root_seed=1),
        replace(plan, steps=21),
        replace(plan, training=plan.training.model_copy(update={"learning_rate": 0.0100001})),
        make_short("argmax", "rms"),
        make_short("dictionary"),
    ]
    before = checkpoints.fingerprint(plan, SEEDS)
    assert checkpoints.fingerprint(make_short("argmax"), [0, 1]) == before
    made = {before, checkpoints.fingerprint(plan, [0, 2]), *(checkpoints.fingerprint(one, SEEDS) for one in others)}
    assert len(made) == 2 + len(others)
    with monkeypatch.context() as patched:
        patched.setattr(torch, "__version__", "0.1")
        assert checkpoints.fingerprint(plan, SEEDS) not in made
    source = tmp_path / "adam.py"
    source.write_text("changed")
    monkeypatch.setattr(sys.modules["vanishing_variance.engine.kernels.compiled_adam"], "__file__", str(source))
    changed = checkpoints.fingerprint(plan, SEEDS)
    source.with_suffix(".c").write_text("changed, too")
    assert len({before, changed, checkpoints.fingerprint(plan, SEEDS)}) == 3
    monkeypatch.setitem(sys.modules, "a_helper_of_ones_own", SimpleNamespace(__file__=str(source)))
    with_helper = checkpoints.fingerprint(plan, SEEDS)
    source.write_text("changed again")
    assert checkpoints.fingerprint(plan, SEEDS) != with_helper


def test_checkpoints_of_other_parameters_stay(tmp_path):
    plan, other = (make_short("argmax", seeds_per_process=1, learning_rate=rate) for rate in (1e-2, 1e-3))
    block.train_block(plan, SEEDS, tmp_path)
    first = {path: path.read_bytes() for path in tmp_path.iterdir()}
    assert len(first) == 2
    block.train_block(other, SEEDS, tmp_path)
    assert len(list(tmp_path.iterdir())) == 4
    assert {path: path.read_bytes() for path in first} == first


def test_the_checkpoints_of_the_training_that_led_to_the_weights_are_removed_and_no_others(tmp_path):
    table = np.ones((4, 16))  # of all trainings, as a network may have
    weights = {"head.2.weight": np.arange(8.0).reshape(4, 2), "table": table}
    trained = {"first": weights["head.2.weight"][:2], "second": weights["head.2.weight"][2:]}
    for name, head in {**trained, "of other parameters": np.ones((2, 2))}.items():
        arrays = {"weights.head.2.weight": head, "weights.table": table[:2]}
        write_arrays(tmp_path / f"{name}.safetensors", arrays)
    write_arrays(tmp_path / "of another network.safetensors", {"weights.bias": np.arange(2.0)})
    (tmp_path / "damaged.safetensors").write_bytes(b"damaged")
    remove_finished_checkpoints(tmp_path, weights)
    remove_finished_checkpoints(tmp_path / "missing", weights)
    assert {path.stem for path in tmp_path.iterdir()} == {"of other parameters", "of another network", "damaged"}
