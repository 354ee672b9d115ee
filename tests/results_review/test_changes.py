import pytest
import yaml

from results_review.commands import ReviewError
from results_review.stages import Change, changes, flat, records, stale

CODE = "src/training.py"


def stage(command="python -m stages.train", deps=None, params=None, outs=None):
    entry = {"cmd": command, "params": {"params.yaml": params or {}}}
    for kind, files in (("deps", deps), ("outs", outs)):
        entry[kind] = [{"path": path, "hash": "md5", "md5": md5, "size": 1} for path, md5 in (files or {}).items()]
    return entry


def lock(*names, **entries):
    """The records of a graph of these stages, by default of all that dvc.lock has."""
    stages = {name.replace("AT", "@"): entry for name, entry in entries.items()}
    graph = {name: (name, "dvc.lock", ".") for name in names or stages}
    return records(graph, lambda path: yaml.safe_dump({"schema": "2.0", "stages": stages}))


TRAIN = stage(deps={CODE: "1"}, params={"model": {"width": 8, "gelu": "exact"}, "seed": 0}, outs={"runs/w": "a"})
TEST = stage("test", {"runs/w": "a", "runs/folder": "x.dir"}, outs={"metrics/a.json": "m", "metrics/b.json": "n"})


def test_a_stage_that_did_not_run_is_not_named():
    before = lock(train=TRAIN, test=TEST)
    assert changes(before, before) == []


def test_parameters_command_files_and_what_other_stages_made_are_reasons_and_outputs_are_told_apart():
    parameters = {"model": {"width": 9, "gelu": "exact"}, "seed": 0}
    now = stage("train", {CODE: "2", "src/new.py": "1"}, parameters, outs={"runs/w": "b"})
    test = stage("test", {"runs/w": "b", "runs/folder": "x.dir"}, outs={"metrics/a.json": "o", "metrics/b.json": "n"})
    assert changes(lock(trainATx=TRAIN, test=TEST), lock(trainATx=now, test=test)) == [
        Change("train@x", "ran", ("`model.width`", "its command", f"`{CODE}`", "`src/new.py`"), {"runs/w": True}),
        Change("test", "ran", ("what `train` made",), {"metrics/a.json": True, "metrics/b.json": False}),
    ]


def test_a_folder_is_what_the_stages_make_that_write_into_it():
    writers = {f"evaluateAT{n}": stage(outs={f"runs/w/{n}": "1"}) for n in "ab"}
    writers["beside"] = stage(outs={"runs/wide": "1"})
    before, after = (lock(**writers, reader=stage(deps={"runs/w": md5}, outs={"t": "1"})) for md5 in ("1", "2"))
    assert changes(before, after) == [Change("reader", "ran", ("what `evaluate` made",), {"t": False})]


def test_new_and_gone_are_by_the_graph_because_the_lock_keeps_what_was():
    kept = {"older": TRAIN, "old": TRAIN, "kept": TRAIN, "new": TRAIN}
    found = changes(lock("old", "kept", **kept), lock("kept", "new", "never run", **kept))
    assert found == [Change("new", "new", (), {"runs/w": True}), Change("old", "gone")]


def test_the_same_inputs_with_other_outputs_have_no_reason():
    found = changes(lock(a=TRAIN), lock(a={**TRAIN, "outs": stage(outs={"runs/w": "z"})["outs"]}))
    assert found == [Change("a", "ran", (), {"runs/w": True})]


def test_an_empty_lock_has_no_stages_and_a_damaged_one_is_refused():
    graph = {"a": ("a", "dvc.lock", ".")}
    assert records(graph, lambda path: "") == {"a": None}
    assert flat({"a": {"b": [1, 2], "c": {}}, "d": None}) == {"a.b": [1, 2], "a.c": {}, "d": None}
    with pytest.raises(ReviewError, match=r"^dvc.lock: cannot be read as YAML"):
        records(graph, lambda path: "stages: [")


def test_paths_of_another_folders_lock_are_those_of_the_repository():
    text = yaml.safe_dump({"stages": {"train": stage(deps={"a": "1", "../src": "2"}, outs={"b": "3"})}})
    graph = {"more/dvc.yaml:train": ("train", "more/dvc.lock", "more")}
    (record,) = records(graph, {"more/dvc.lock": text}.__getitem__).values()
    assert (record.files, record.outputs) == ({"more/a": "1", "src": "2"}, {"more/b": "3"})


ABSENT = {"runs/checked": "deleted", "data/argmax": "deleted"}


@pytest.mark.parametrize(
    ("said", "reasons"),
    [
        ([{"changed deps": ABSENT}, {"changed outs": {"runs/accuracy": "not in cache"}}], None),
        (
            [{"changed deps": {**ABSENT, "src/a.py": "modified", "params.yaml": {"norm": "modified"}}}],
            ("`norm`", "`src/a.py`"),
        ),
        ([{"changed deps": {"runs/checked": "modified"}}], ("`runs/checked`",)),
        ([{"changed outs": {"metrics/a.json": "deleted"}}], ("`metrics/a.json` is deleted",)),
        ([{"changed outs": {"runs/w": "modified"}}], ("`runs/w` is modified",)),
        (["changed command"], ("changed command",)),
    ],
)
def test_a_stage_is_stale_by_what_differs_not_by_what_only_the_cache_lacks(said, reasons):
    found = stale({"train": said}, ["train"], lambda path: path.startswith("metrics/"))
    assert found == ([Change("train", "stale", reasons)] if reasons else [])


def test_a_stage_without_a_record_has_not_run_whatever_else_is_said():
    found = stale({"new": [{"changed deps": {"src/a.py": "modified"}}]}, [], lambda path: True)
    assert found == [Change("new", "stale", ("it has not run",))]
