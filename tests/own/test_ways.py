"""A differential test: things of one's own, each trained and tested in every way, give equal numbers, or one line.

The numbers of a way are those of a seed alone in this process. A way must not be wrong without a word.
"""

import importlib
import pickle
import sys
import threading
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
import torch
from small import smoke
from torch import nn
from torch.optim.optimizer import register_optimizer_step_pre_hook

from vanishing_variance import evaluate, inside, train
from vanishing_variance.harness import parallel
from vanishing_variance.harness.errors import InputError

pytestmark = pytest.mark.trains

TEXT = (Path(__file__).parent / "things.py").read_text()
SEED, LENGTHS, SEQUENCES, STEPS = 3, [6, 24], 16, 3
# Of each thing, by the argument of `train` that takes it.
TASKS = ["Largest", "Balanced", "OddArrays", "Reused", "NumberedAnew", "Wide", "Chance"]
NORMS = ["InPlace", "Remembers", "RemembersFirst", "Drawn"]
MAPS = ["Map", "Scale", "Recent"]
NETWORKS = ["Bag", "Odd", "Part", "Half", "Counts", "First", "Order", "NumpyStart", "Overflows"]
# Those that a line must refuse, and those that one may, where a process has another order of sets.
REFUSED = {"Chance", "Remembers", "RemembersFirst", "Part", "Counts", "First", "NumpyStart"}
ORDERED = {"NumberedAnew", "Order"}
ALL = [*TASKS, *NORMS, *MAPS, *NETWORKS]
# In the quick tests, too: one of each kind; and in every way.
TOLD = {"NumberedAnew", "Wide", "Chance", "InPlace", "Remembers", "Drawn", "Map", "Odd", "Part", "First", "NumpyStart"}
QUICK = {"Reused"}


@pytest.fixture
def things(tmp_path, monkeypatch):
    """The module, imported from a folder of its own."""
    (tmp_path / "things.py").write_text(TEXT)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "things", raising=False)
    return importlib.import_module("things")


@pytest.fixture(scope="module")
def child():
    """A process that is started anew, with another order of sets, and does not find the module."""
    with ProcessPoolExecutor(1, get_context("spawn")) as pool:
        yield pool


def arguments(things, name):
    """Return what `train` gets of a thing, objects where something of them can be changed."""
    thing = getattr(things, name)
    chosen = {"task": things.Largest(), "norm": things.Norm()}
    if name in TASKS:
        chosen["task"] = thing()
    elif name in NORMS:
        chosen["norm"] = thing
        if name == "InPlace":
            chosen["attention"] = things.InPlaceMap
    elif name in MAPS:
        chosen["attention"] = thing()
    else:
        chosen |= {"network": thing, "options": {"signs": [1.0]}}
    return chosen


def trained(chosen, seeds=(SEED,)):
    changes = {"training.seeds_per_process": 1, "training.batch_size": 16, "training.kept_steps": [2]}
    return train(smoke(**changes), seeds=seeds, steps=STEPS, **chosen)


def numbers(models):
    """Return all numbers of SEED: weights, kept ones, losses, answers and what is inside."""
    place = list(models.seeds).index(SEED)
    found = {}
    for rule, weights in {"last": models.weights, **models.kept}.items():
        found |= {f"{rule}.{name}": (array.dtype, array[place].tolist()) for name, array in weights.items()}
    found["losses"] = models.losses.query("seed == @SEED")["loss"].tolist()
    found["tested"] = rows(evaluate(models, LENGTHS, SEQUENCES))
    if models.network_name == "paper":
        found["inside"] = rows(inside(models, LENGTHS, SEQUENCES))
    return found


def rows(frame):
    return repr(frame.query("seed == @SEED").to_numpy().tolist())


def alone(things, name, monkeypatch):
    return numbers(trained(arguments(things, name)))


def among_others(things, name, monkeypatch):
    """And in a thread, beside one that trains another seed."""
    found = []

    def work(seeds):
        try:
            models = trained(arguments(things, name), seeds)
            found.append(numbers(models) if SEED in seeds else None)
        except InputError as problem:
            found.append(problem)

    threads = [threading.Thread(target=work, args=(seeds,)) for seeds in ([7, SEED], [5])]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for each in found:
        if isinstance(each, InputError):
            raise each
    return next(each for each in found if each)


def without_gradients(optimiser, given, named):
    for group in optimiser.param_groups:
        for tensor in group["params"]:
            tensor.grad = None


def under_modes(things, name, monkeypatch):
    chosen = arguments(things, name)
    hook = nn.modules.module.register_module_forward_hook(lambda part, given, returned: returned * 2)
    of_optimisers = register_optimizer_step_pre_hook(without_gradients)
    torch.set_default_dtype(torch.float64)
    torch.set_float32_matmul_precision("medium")
    torch.use_deterministic_algorithms(True)
    before = modes()
    try:
        with (
            torch.device("meta"),
            torch.autocast("cpu", torch.bfloat16),
            torch.inference_mode(),
            np.errstate(all="raise"),
        ):
            found = numbers(trained(chosen))
        assert modes() == before
        return found
    finally:
        hook.remove()
        of_optimisers.remove()
        torch.set_default_dtype(torch.float32)
        torch.set_float32_matmul_precision("highest")
        torch.use_deterministic_algorithms(False)


def modes():
    return torch.get_default_dtype(), torch.get_float32_matmul_precision(), torch.are_deterministic_algorithms_enabled()


def after_an_edit(things, name, monkeypatch):
    """Of the file, the class and the objects, once it is trained."""
    chosen = arguments(things, name)
    models = trained(chosen)
    path = Path(things.__file__)
    path.write_text(TEXT.replace("POWER = 1", "POWER = -1"))
    importlib.reload(things)
    things.POWER = -1
    for thing in chosen.values():
        if isinstance(thing, (things.Norm, things.Scale)):
            thing.more = thing.base = 3.0
    for kind in (type(chosen["norm"]), type(chosen["task"]), chosen.get("network")):
        if kind not in (None, type):
            kind.more, kind.pooled, kind.label = 3.0, lambda self, x: x * 0, lambda self, batch: 1 / 0
    if "options" in chosen:
        chosen["options"]["signs"][0] = -1.0
    return numbers(models)


def in_children(things, name, monkeypatch):
    """Then pickled, and tested in a process that cannot import the module."""
    monkeypatch.setattr(parallel, "run", lambda jobs, progress, small=False: [in_child(job) for job in jobs])
    return CHILD[0].submit(loaded, pickle.dumps(trained(arguments(things, name)))).result()


def in_child(job):
    return CHILD[0].submit(called, job).result()


def called(job):
    return parallel._settled(job, lambda done: None)


def loaded(pickled):
    assert "things" not in sys.modules
    return numbers(pickle.loads(pickled))


CHILD = []
# The last one leaves other things behind.
WAYS = [among_others, under_modes, in_children, after_an_edit]


@pytest.mark.parametrize("name", [pytest.param(name, marks=() if name in TOLD else pytest.mark.slow) for name in ALL])
def test_other_processes_and_edits_give_the_same_numbers_or_a_line(name, things, child, monkeypatch, capsys):
    compare(name, WAYS[-2:], things, child, monkeypatch)
    assert ("not a number" in capsys.readouterr().err) == (name == "Overflows")


@pytest.mark.parametrize("name", [pytest.param(name, marks=() if name in QUICK else pytest.mark.slow) for name in ALL])
def test_every_way_gives_the_same_numbers_or_a_line(name, things, child, monkeypatch):
    compare(name, WAYS[:-2], things, child, monkeypatch)


def compare(name, ways, things, child, monkeypatch):
    CHILD[:] = [child]
    if name in REFUSED:
        with pytest.raises(InputError):
            alone(things, name, monkeypatch)
        return
    expected = alone(things, name, monkeypatch)
    for way in ways:
        with monkeypatch.context() as patch:
            found = by(way, things, name, patch)
        if isinstance(found, str):
            assert name in ORDERED, f"{way.__name__}: {found}"
            assert "the order of a set" in found
        else:
            differ = [key for key in expected if found.get(key) != expected[key]]
            assert not differ, f"{way.__name__}: other {differ}"


def by(way, things, name, patch):
    """Return the numbers of a way, or the line that says why there are none."""
    try:
        return way(things, name, patch)
    except InputError as problem:
        return str(problem)
