"""Stages that ran, by the records of both states; those that have yet to run; and claims whose verdict flipped."""

import json

import pytest
import yaml

from results_review.claims import flips
from results_review.commands import ReviewError
from results_review.stages import Change, changes, flat, records, stale

CODE = "src/training.py"


def stage(command="train", deps=None, params=None, outs=None):
    entry = {"cmd": command, "params": {"params.yaml": params or {}}}
    for kind, files in (("deps", deps), ("outs", outs)):
        entry[kind] = [{"path": path, "hash": "md5", "md5": md5, "size": 1} for path, md5 in (files or {}).items()]
    return entry


def lock(stages, graph=None):
    """The records of a graph of these stages, by default of all that dvc.lock has."""
    text = yaml.safe_dump({"schema": "2.0", "stages": stages})
    return records({name: (name, "dvc.lock", ".") for name in graph or stages}, lambda path: text)


TRAIN = stage(deps={CODE: "1"}, params={"model": {"width": 8, "gelu": "exact"}, "seed": 0}, outs={"runs/w": "a"})
TEST = stage("test", {"runs/w": "a"}, outs={"metrics/a.json": "m", "metrics/b.json": "n"})


def test_a_stage_ran_because_of_parameters_its_command_files_and_what_others_made():
    parameters = {"model": {"width": 9, "gelu": "exact"}, "seed": 0}
    now = stage("another", {CODE: "2", "src/new.py": "1"}, parameters, outs={"runs/w": "b"})
    test = stage("test", {"runs/w": "b"}, outs={"metrics/a.json": "o", "metrics/b.json": "n"})
    before = lock({"train@x": TRAIN, "test": TEST})
    assert changes(before, lock({"train@x": now, "test": test})) == [
        Change("train@x", "ran", ("`model.width`", "its command", f"`{CODE}`", "`src/new.py`"), {"runs/w": True}),
        Change("test", "ran", ("what `train` made",), {"metrics/a.json": True, "metrics/b.json": False}),
    ]
    assert changes(before, before) == []
    by_chance = {**TRAIN, "outs": stage(outs={"runs/w": "z"})["outs"]}  # other outputs of the same inputs
    assert changes(lock({"a": TRAIN}), lock({"a": by_chance})) == [Change("a", "ran", (), {"runs/w": True})]


def test_a_folder_is_what_the_stages_make_that_write_into_it_and_equal_outputs_hide_no_run():
    writers = {f"evaluate@{n}": stage(outs={f"runs/w/{n}": "1"}) for n in "ab"} | {"x": stage(outs={"runs/wide": "1"})}
    before, after = (lock(writers | {"reader": stage(deps={"runs/w": md5}, outs={"t": "1"})}) for md5 in "12")
    assert changes(before, after) == [Change("reader", "ran", ("what `evaluate` made",), {"t": False})]


def test_an_empty_lock_has_no_stages_and_a_damaged_one_is_refused():
    graph = {"a": ("a", "dvc.lock", ".")}
    assert records(graph, lambda path: "") == {"a": None}
    assert flat({"a": {"b": [1, 2], "c": {}}, "d": None}) == {"a.b": [1, 2], "a.c": {}, "d": None}
    with pytest.raises(ReviewError, match=r"^dvc.lock: cannot be read as YAML"):
        records(graph, lambda path: "stages: [")


ABSENT = {"runs/checked": "deleted", "data/argmax": "deleted"}
CHANGED = {**ABSENT, "src/a.py": "modified", "params.yaml": {"norm": "modified"}}


@pytest.mark.parametrize(
    ("said", "reasons"),
    [
        ([{"changed deps": ABSENT}, {"changed outs": {"runs/accuracy": "not in cache"}}], None),
        ([{"changed deps": CHANGED}], ("`norm`", "`src/a.py`")),
        ([{"changed outs": {"metrics/a.json": "deleted"}}], ("`metrics/a.json` is deleted",)),
        ([{"changed outs": {"runs/w": "modified"}}], ("`runs/w` is modified",)),
        (["changed command"], ("changed command",)),
    ],
)
def test_a_stage_is_stale_by_what_differs_not_by_what_only_the_cache_lacks(said, reasons):
    found = stale({"train": said}, ["train"], lambda path: path.startswith("metrics/"))
    assert found == ([Change("train", "stale", reasons)] if reasons else [])
    assert stale({"new": said}, [], lambda path: True) == [Change("new", "stale", ("it has not run",))]


def test_only_verdicts_and_sizes_that_differ_are_named_with_both_numbers():
    def claims(**of):
        keys = ("verdict", "size", "ours", "unit")
        where = {"claim": "ln helps", "where": "Section 3.1"}
        return json.dumps({name: where | dict(zip(keys, values, strict=True)) for name, values in of.items()})

    same = ("supported", "", 1.0, "pp"), ("supported", None, 9.0, "pp")
    before = claims(same=same[0], ln=("not comparable", None, -1.39, "pp"), gone=("not tested", None, None, "pp"))
    after = claims(same=same[1], ln=("supported", "larger", 5.812345, "pp"), new=("contradicted", None, 3, None))
    assert flips(before, after) == [
        ("ln helps", "Section 3.1", "not comparable → supported, larger", "-1.39 pp → 5.812 pp"),
        ("ln helps", "Section 3.1", "– → contradicted", "– → 3"),
        ("ln helps", "Section 3.1", "not tested → –", "– → –"),
    ]
    assert flips("", after) == flips(before, "") == []  # a state without claims
