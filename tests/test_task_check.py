"""The check of a task before its training: a line for each mistake, and none for what is right."""

import sys

import numpy as np
import pytest
from own_tasks import OWN, Drawn, Mean

from vanishing_variance import OneHot, networks, tasks
from vanishing_variance.engine import registry
from vanishing_variance.engine.ranges import Range
from vanishing_variance.harness.errors import InputError
from vanishing_variance.plain.plan import load_network
from vanishing_variance.task_check import check_task, reads_order

TRAINED = Range(shortest=5, longest=16)
GLOBAL = np.random.default_rng(0)


def checked(task, in_order=False):
    check_task(task, type(task).__name__, TRAINED, in_order=in_order)


@pytest.mark.parametrize("kind", [*OWN, *map(registry.load_task, registry.names("tasks"))])
def test_a_right_task_passes(kind):
    checked(kind())


class ReservedName(Drawn):
    items = {"target": OneHot(3)}


class NoParameter(Drawn):
    items = {"key": OneHot("keys")}


class TooShort(Mean):
    @property
    def longest(self):
        return 8


class Fails(Mean):
    def sample(self, rng, sequences, length):
        return {"number": rng.random((sequences, length), dtype="float99")}


class Double(Mean):
    def sample(self, rng, sequences, length):
        return {"number": rng.random((sequences, length))}


class Beyond(Drawn):
    items = {"class": OneHot(4)}

    def sample(self, rng, sequences, length):
        return {"class": rng.integers(5, size=(sequences, length))}


class FromAGlobalGenerator(Mean):
    def sample(self, rng, sequences, length):
        return super().sample(GLOBAL, sequences, length)


class FromItsOwn(Mean):
    def sample(self, rng, sequences, length):
        return super().sample(np.random.default_rng(0), sequences, length)


class LabelBeyond(Mean):
    def label(self, batch):
        return super().label(batch) + 5


class LabelKept(Mean):
    """By what the last sample was."""

    def sample(self, rng, sequences, length):
        KEPT.append(super().sample(rng, sequences, length))
        return KEPT[-1]

    def label(self, batch):
        return super().label(KEPT[-1])[: len(batch["number"])]


KEPT = []


class LabelThatChanges(Mean):
    def label(self, batch):
        batch["number"].sort(axis=1)
        return super().label(batch)


class First(Mean):
    def label(self, batch):
        return (batch["number"][:, 0] * 10).astype(np.int64)


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        (ReservedName, "target is no name for an array of items or query; "),
        (NoParameter, "classes of key is 'keys'; must be 1 to 16777216, or the name of a parameter that is: none"),
        (TooShort, "its longest sequence has 8 items, and training 16"),
        (Fails, "sample(rng, 64, 5) fails: TypeError: "),
        (Double, "number is float64; must be float32, as rng.random(size, dtype=np.float32)"),
        (Beyond, "class has 0 to 4; must be from 0 to 3"),
        (FromAGlobalGenerator, "sample returns other sequences where the generator is the same; "),
        (FromItsOwn, "sample returns the same sequences whatever the generator; "),
        (LabelBeyond, "label has "),
        (LabelKept, "label is another where a sequence stands elsewhere; its own arrays must decide it"),
        (LabelThatChanges, "label changes the arrays that it is given"),
        (First, "label depends on the order of the items, which network paper does not read; "),
    ],
)
def test_a_wrong_task_is_one_line(kind, line):
    with pytest.raises(InputError) as raised:
        checked(kind())
    assert str(raised.value).removeprefix(f"task {kind.__name__}: ").startswith(line)


class OfTwo(Mean):
    def label(self, batch):
        return (batch["number"][:, 1] * self.bins).astype(np.int64)


def test_the_shortest_tested_length_counts_too():
    with pytest.raises(InputError, match=r"^task OfTwo: label of 64 sequences of 1 items fails: IndexError: "):
        check_task(OfTwo(), "OfTwo", TRAINED, [1, 64], in_order=True)


def test_the_order_of_items_may_decide_where_a_network_may_read_it():
    checked(First(), in_order=True)
    choices = [("paper", "softmax"), ("paper", "stickbreaking"), ("transformer", "softmax")]
    assert [reads_order(*names) for names in choices] == [False, True, True]


@pytest.mark.parametrize(
    ("load", "package", "text", "line"),
    [
        (registry.load_task, tasks, "import numpy", r"own\.py: a task's file has one class that is a Task, not 0$"),
        (registry.load_task, tasks, "def sample(", r"^tasks/own\.py fails: SyntaxError: "),
        (load_network, networks, "import numpy", r"^network is 'own'; must be a class that is an nn\.Module, or the "),
        (load_network, networks, "1 / 0", r"^networks/own\.py fails: ZeroDivisionError: division by zero$"),
    ],
)
def test_a_wrong_file_is_one_line(load, package, text, line, tmp_path, monkeypatch):
    (tmp_path / "own.py").write_text(text)
    monkeypatch.setattr(package, "__path__", [str(tmp_path)])
    monkeypatch.setattr(registry, "names", lambda folder: ["own"])
    monkeypatch.delitem(sys.modules, f"{package.__name__}.own", raising=False)
    with pytest.raises(InputError, match=line):
        load("own")
