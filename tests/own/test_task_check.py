"""The check of a task before its training: a line for each mistake, and none for what is right."""

import re
import sys
from contextlib import nullcontext

import numpy as np
import pytest
from own_tasks import OWN, Drawn, Mean, drawing, labelling, own

from vanishing_variance import Embedded, Number, OneHot, networks, tasks
from vanishing_variance.engine import registry
from vanishing_variance.engine.ranges import Range
from vanishing_variance.harness.errors import InputError
from vanishing_variance.plain.plan import load_network
from vanishing_variance.task_check import check_task, reads_order

TRAINED = Range(shortest=5, longest=16)
GLOBAL = np.random.default_rng(0)


def checked(task, in_order=False):
    check_task(task, type(task).__name__, TRAINED, in_order=in_order)


class OfOne(Mean):
    """With a class that is the only one, and a number of numpy."""

    items = {"number": Number(), "kind": OneHot(1)}
    label_classes = np.int64(10)

    def sample(self, rng, sequences, length):
        return super().sample(rng, sequences, length) | {"kind": np.zeros((sequences, length), dtype=np.uint8)}


@pytest.mark.parametrize("kind", [*OWN, OfOne, *map(registry.load_task, registry.names("tasks"))])
def test_a_right_task_passes(kind):
    checked(kind())


def kept(self, rng, *size):
    KEPT.append(Mean.sample(self, rng, *size))
    return KEPT[-1]


def sorting(self, batch):
    batch["number"].sort(axis=1)
    return Mean.label(self, batch)


KEPT = []
FIRST = own(label=labelling(lambda numbers: (numbers[:, 0] * 10).astype(np.int64)))


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        (own(Drawn, items={"target": OneHot(3)}), "target is no name for an array of items or query; "),
        (
            own(Drawn, items={"key": OneHot("keys")}),
            "classes of key is 'keys'; must be 1 to 16777216, or the name of a parameter that is: none",
        ),
        (own(items=[Number()]), "items is [Number(width=1)]; must be Number(), OneHot or Embedded by name"),
        (
            own(items={"number": Number}),
            "number is <class 'vanishing_variance.engine.task.Number'>; must be Number(), ",
        ),
        (own(items={"number": Number(0)}), "width of number is 0; must be a whole number from 1 on"),
        (
            own(items={"key": Embedded(3, table="a.b")}),
            "table of key is 'a.b'; must be a name of letters, digits and _",
        ),
        (own(longest=property(lambda self: "20")), "longest is '20'; must be a whole number from 1 on, or None"),
        (own(longest=property(lambda self: 8)), "its longest sequence has 8 items, and training 16"),
        (own(num_classes=property(lambda self: 1 / 0)), "fails: ZeroDivisionError: "),
        (
            own(sample=drawing(lambda rng, size: rng.random(size, dtype="float99"))),
            "sample(rng, 64, 5) fails: TypeError: ",
        ),
        (
            own(sample=drawing(lambda rng, size: rng.random(size))),
            "number is float64; must be float32, as rng.random(size, dtype=np.float32)",
        ),
        (
            own(items={"number": OneHot(4)}, sample=drawing(lambda rng, size: rng.integers(5, size=size))),
            "number has 0 to 4; must be from 0 to 3",
        ),
        (
            own(sample=drawing(lambda rng, size: GLOBAL.random(size, dtype=np.float32))),
            "sample returns other sequences where the generator is the same; ",
        ),
        (
            own(sample=drawing(lambda rng, size: np.random.default_rng(0).random(size, dtype=np.float32))),
            "sample returns the same sequences whatever the generator; ",
        ),
        (own(label=labelling(lambda numbers: np.arange(len(numbers)))), "label has "),
        (
            own(sample=kept, label=lambda self, batch: Mean.label(self, KEPT[-1])[: len(batch["number"])]),
            "label is another where a sequence stands elsewhere; its own arrays must decide it",
        ),
        (own(label=sorting), "label changes the arrays that it is given"),
        (FIRST, "label depends on the order of the items, which network paper does not read; "),
    ],
)
def test_a_wrong_task_is_one_line(kind, line):
    with pytest.raises(InputError) as raised:
        checked(kind())
    assert re.sub("^task Own:? ", "", str(raised.value)).startswith(line)


def test_the_shortest_tested_length_counts_too():
    of_two = own(label=labelling(lambda numbers: numbers[:, 1].astype(np.int64)))
    with pytest.raises(InputError, match=r"^task Own: label of 64 sequences of 1 items fails: IndexError: "):
        check_task(of_two(), "Own", TRAINED, [1, 64], in_order=True)


def test_the_order_of_items_may_decide_where_a_network_may_read_it():
    checked(FIRST(), in_order=True)
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


ODD = """import numpy as np
from vanishing_variance.tasks.argmax import Argmax

ODD = np.random.default_rng({seed}).permutation(10)

class Odd(Argmax):
    def label(self, batch):
        return ODD[super().label(batch)]
"""
REFUSED = pytest.raises(InputError, match=r"^task odd: its file, read again, differs: ")


@pytest.mark.parametrize(("seed", "said"), [("", REFUSED), ("0", nullcontext())])
def test_another_process_has_to_read_the_same_task(seed, said, tmp_path, monkeypatch):
    (tmp_path / "odd.py").write_text(ODD.format(seed=seed))
    monkeypatch.setattr(tasks, "__path__", [str(tmp_path)])
    monkeypatch.setattr(registry, "names", lambda folder: ["odd"])
    monkeypatch.delitem(sys.modules, f"{tasks.__name__}.odd", raising=False)
    odd = registry.load_task("odd")()
    with said:
        check_task(odd, "odd", TRAINED, in_order=False)
