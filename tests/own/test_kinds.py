"""Faults of one's own code that gave wrong numbers without a word, or a traceback, each with the right value."""

import io
import sys
from collections import deque
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest
import torch
from own_tasks import Mean, Queried, drawing, labelling, own
from plain_plans import Bag, make_plain
from small import make_short, smoke
from things import Balanced, Drawn, Odd, Recent, Wide
from torch import nn

from vanishing_variance import evaluate, inside, module, train
from vanishing_variance.engine import registry
from vanishing_variance.engine.batches import batches
from vanishing_variance.engine.streams import stream
from vanishing_variance.engine.trial import ITEMS, check_norm, map_reads_order
from vanishing_variance.engine.variant import Given
from vanishing_variance.harness import edits, parallel
from vanishing_variance.harness.by_value import copied, described
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.parallel import job
from vanishing_variance.harness.progress import Progress
from vanishing_variance.plain.model import initial_model
from vanishing_variance.task_check import check_task
from vanishing_variance.tasks.dictionary import Dictionary

# Tasks


class OfDictionary(Dictionary):
    def sample(self, rng, sequences, length):
        return super().sample(rng, sequences, length)


def of_task(task):
    plan = make_short("argmax")
    return replace(plan, variant=replace(plan.variant, task_name="own", task=task, given=Given(task)))


def test_a_batch_of_a_task_is_one_sample_of_it():
    plan = of_task(Balanced())
    expected = sorted(np.arange(plan.training.batch_size) % 4)
    drawn = iter(batches(plan, [3]))
    rng = stream(plan.root_seed, "train", "own", plan.range_name, 3, 0)
    for _ in range(3):
        batch, labels = next(drawn)
        assert labels[0].tolist() == expected
        again = plan.variant.task.sample(rng, plan.training.batch_size, batch["class"].shape[2])
        np.testing.assert_array_equal(batch["class"][0], again["class"])
    assert Dictionary.independent
    assert not OfDictionary.independent


def test_every_draw_is_checked():
    rarely_wrong = own(label=labelling(lambda numbers: np.where(numbers[:, 0] > 0.999, 10, 0)))
    drawn = batches(of_task(rarely_wrong()), range(8))
    line = r"^task Own: label has 0 to 10; must be from 0 to 9, of sequences of \d+ items$"
    with pytest.raises(InputError, match=line):
        deque(islice(drawn, 2000), 0)


class TwoArguments(Exception):  # noqa: N818
    def __init__(self, name, value):
        super().__init__(f"{name} {value}")


def fails(report):
    raise TwoArguments("length", 7)


def test_an_error_of_another_process_that_cannot_be_sent_is_said(monkeypatch):
    monkeypatch.setattr(parallel, "cores", lambda: 2)
    with pytest.raises(RuntimeError, match=r"^TwoArguments: length 7$"):
        parallel.run([job(fails), job(fails)], lambda done: None)


def unless(fails):
    """Return the task of means, whose `sample` fails where a function of sequences and length is true."""

    def draw(rng, size):
        if fails(*size):
            raise TwoArguments(*size)
        return rng.random(size, dtype=np.float32)

    return own(sample=drawing(draw))()


@pytest.mark.trains
def test_own_code_that_fails_at_a_length_that_no_check_tried_is_one_line():
    task = unless(lambda sequences, length: length == 7)
    with pytest.raises(InputError, match=r"^task Own: sample\(rng, (\d+), 7\) fails: TwoArguments: \1 7$"):
        train(smoke(**{"ranges.short.longest": 16}), task, "ln", [0], steps=40)


@pytest.mark.trains
def test_two_long_sequences_are_two():
    task = unless(lambda sequences, length: length > 1000 and sequences != 2)
    assert len(evaluate(train(smoke(), task, "ln", [0], steps=2), [2000], 2))


OF_QUERY = own(Queried, label=lambda self, batch: (batch["query"] > 20).astype(np.int64))


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        (
            own(label=labelling(lambda numbers: np.zeros(len(numbers), np.int64))),
            "warning: task own: all labels are 0; there is nothing to learn\n",
        ),
        (OF_QUERY, "warning: task own: its labels do not depend on the items\n"),
        (Mean, ""),
    ],
)
def test_labels_that_cannot_teach_are_a_warning(kind, said, capsys):
    check_task(kind(), "own", make_short("argmax").lengths, in_order=False)
    assert capsys.readouterr().err == said


# Copies


def test_a_copy_has_classes_of_its_own_and_none_is_set_back():
    class Thing:
        power = 1

        def raised(self):
            return 2**self.power

    copy = copied(Thing(), "here")
    Thing.power = 3
    again = copied(copy, "here")
    assert (copy.raised(), again.raised(), Thing().raised()) == (2, 2, 8)
    assert type(copy) is not type(again)
    assert described(copy) == described(again) != described(Thing())


@pytest.mark.trains
def test_params_of_trained_models_can_be_given_back():
    models = train(smoke(), Mean(), "ln", [0], steps=2)
    assert train(models.params, Mean(), "none", [0], steps=2).params == models.params


@pytest.mark.trains
def test_code_of_this_package_that_was_edited_is_not_run(monkeypatch):
    models = train(smoke(), "argmax", "ln", [0], steps=2)
    file = edits.PACKAGE / "norms/ln.py"
    monkeypatch.setitem(edits._noted, file, (0, 0))
    for call in (lambda: train(smoke(), "argmax", "ln", [0], steps=2), lambda: evaluate(models, [4], 2)):
        with pytest.raises(
            InputError, match=r"norms/ln\.py was edited since this Python loaded it; start Python anew$"
        ):
            call()


@pytest.mark.trains
def test_models_whose_named_normaliser_was_edited_since_are_not_tested():
    models = replace(train(smoke(), Mean(), "ln", [0], steps=2), weights={})
    assert models.files.keys() == {"attentions/softmax.py", "norms/ln.py"}
    edited = replace(models, files={"norms/ln.py": "of before"})
    for call in (lambda: evaluate(edited, [4], 2), lambda: module(edited, 0)):
        with pytest.raises(InputError, match=r"^norms/ln\.py was edited since these models were trained; put it back"):
            call()


# Numbers


class Beyond(nn.Module):
    """An attention map or a network that is no number from 20 items on."""

    LEARNABLE = {}

    @staticmethod
    def weights(logits, parameters):
        return torch.softmax(logits, dim=-1) * torch.log(torch.tensor(20.0 - logits.shape[-1]))


@pytest.mark.trains
def test_answers_that_are_not_a_number_are_said_and_never_right(capsys):
    models = train(smoke(), "argmax", "ln", [0], attention=Beyond, steps=2)
    capsys.readouterr()
    tested = evaluate(models, [4, 32], 50).set_index(["rule", "length"])
    assert tested.loc[[(rule, 4) for rule in ("last", "averaged")], "no_answer"].tolist() == [0, 0]
    for rule in ("last", "averaged", "hard"):
        assert tested.loc[rule, 32].tolist() == [0, 0, 1]
    said = capsys.readouterr().err
    assert "up to 100.0% of the answers of a model are not a number, and count as wrong" in said
    assert "at 32 items" in said
    assert inside(models, [32], 10)["hard"].isna().all()


@pytest.mark.trains
def test_kept_weights_have_their_dtype_and_whole_numbers_no_mean():
    changes = {"training.kept_steps": [1], "training.averaged_part": 0.9}  # the mean of three
    models = train(smoke(**changes), "argmax", "ln", [0], network=Odd, steps=30)
    for weights in (models.weights, *models.kept.values()):
        assert weights["network.prime"].tolist() == [2654435761]
        assert weights["network.more.weight"].dtype == np.float64
    assert set(models.kept) == {"averaged", "step_00000001"}


def test_a_normaliser_that_draws_leaves_all_else_as_it_starts():
    plan = make_plain("argmax", Bag)
    given = replace(plan.variant, norm_name="own", given=Given(norm=Drawn))
    states = [initial_model(each, 3).state_dict() for each in (plan, replace(plan, variant=given))]
    for name in states[0].keys() - {"network.norm.scale", "network.norm.shift"}:
        assert torch.equal(states[0][name], states[1][name]), name
    others = [initial_model(replace(plan, variant=given), seed).state_dict() for seed in (3, 4)]
    assert torch.equal(states[1]["network.norm.scale"], others[0]["network.norm.scale"])
    assert not torch.equal(others[0]["network.norm.scale"], others[1]["network.norm.scale"])


def test_a_map_that_reads_the_order_is_known_by_what_it_does():
    assert map_reads_order(Recent())
    assert not map_reads_order(Beyond)


@pytest.mark.trains
def test_numbers_of_several_features_are_trained_by_the_plain_engine(capsys):
    models = train(smoke(), Wide(), "ln", [0], steps=2)
    assert "by the plain engine, because the fast engine takes numbers of one feature each" in capsys.readouterr().err
    assert models.weights["network.item.0.weight"].shape[2] == 3
    model = module(models, 0)
    batch = {name: torch.from_numpy(array) for name, array in Wide().sample(stream(0), 5, 6).items()}
    items, query = model.features(batch)
    assert torch.equal(items, batch["point"])
    assert torch.equal(query, batch["cue"])


# Progress


class Closed(io.StringIO):
    def write(self, text):
        raise BrokenPipeError


@pytest.mark.parametrize("stream_", [None, object(), Closed()])
def test_progress_ends_no_work_where_nobody_reads(stream_, monkeypatch):
    monkeypatch.setattr(sys, "stderr", stream_)
    with Progress("here", 10, "steps") as progress:
        monkeypatch.setattr(progress, "_line_at", progress._line_at - 60)
        progress(1)


def test_no_time_is_said_before_there_is_a_rate(capsys):
    with Progress("here", 10, "steps") as progress:
        for done in (0, 5):
            progress._line_at -= 60
            progress(done)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "here: 0/10 steps, at work"
    assert lines[1].startswith("here: 5/10 steps, 0 steps/s, ")


def test_a_width_as_large_as_the_items_of_the_check_passes():
    check_norm("ln", registry.load("norms", "ln"), 1e-5, ITEMS)
