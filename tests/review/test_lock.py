from vanishing_variance.review.lock import Change, changes, flat, grouped, records

CODE = "src/training.py"


def stage(command="python -m stages.train", deps=None, params=None, outs=None):
    entry = {"cmd": command}
    for kind, files in (("deps", deps), ("outs", outs)):
        entry[kind] = [{"path": path, "hash": "md5", "md5": md5, "size": 1} for path, md5 in (files or {}).items()]
    if params:
        entry["params"] = {"params.yaml": params}
    return entry


def lock(**entries):
    return records({"schema": "2.0", "stages": {name.replace("AT", "@"): entry for name, entry in entries.items()}})


TRAIN = stage(deps={CODE: "1"}, params={"model": {"width": 8, "gelu": "exact"}, "seed": 0}, outs={"runs/w": "a"})
TEST = stage("test", {"runs/w": "a", "runs/folder": "x.dir"}, outs={"metrics/a.json": "m", "metrics/b.json": "n"})


def test_a_stage_that_did_not_run_is_not_named():
    before = lock(train=TRAIN, test=TEST)
    assert changes(before, before, ["train", "test"], ["train", "test"]) == []


def test_parameters_command_files_and_what_other_stages_made_are_reasons_and_outputs_are_told_apart():
    now = stage("train", {CODE: "2", "src/new.py": "1"}, {"model": {"width": 9, "gelu": "exact"}, "seed": 0})
    now["outs"] = stage(outs={"runs/w": "b"})["outs"]
    test = stage("test", {"runs/w": "b", "runs/folder": "x.dir"}, outs={"metrics/a.json": "o", "metrics/b.json": "n"})
    found = changes(
        lock(trainATx=TRAIN, test=TEST), lock(trainATx=now, test=test), ["train@x", "test"], ["train@x", "test"]
    )
    assert found == [
        Change("train@x", "ran", ("`model.width`", "its command", f"`{CODE}`", "`src/new.py`"), {"runs/w": True}),
        Change("test", "ran", ("what `train` made",), {"metrics/a.json": True, "metrics/b.json": False}),
    ]


def test_a_folder_is_what_the_stages_make_that_write_into_it():
    reader = stage(deps={"runs/w": "1.dir"}, outs={"t": "1"})
    writers = {f"evaluateAT{n}": stage(outs={f"runs/w/{n}": "1"}) for n in "ab"}
    writers["beside"] = stage(outs={"runs/wide": "1"})
    later = lock(**writers, reader={**reader, "deps": stage(deps={"runs/w": "2.dir"})["deps"]})
    names = ["evaluate@a", "evaluate@b", "beside", "reader"]
    (change,) = changes(lock(**writers, reader=reader), later, names, names)
    assert change.reasons == ("what `evaluate` made",)
    assert change.outputs == {"t": False}


def test_new_and_gone_are_by_the_dag_because_the_lock_keeps_what_was():
    both = lock(older=TRAIN, old=TRAIN, kept=TRAIN, new=TRAIN)
    found = changes(both, both, ["old", "kept"], ["kept", "new", "never run"])
    assert found == [Change("new", "new", (), {"runs/w": True}), Change("old", "gone", (), {})]


def test_the_same_inputs_with_other_outputs_have_no_reason():
    (change,) = changes(lock(a=TRAIN), lock(a={**TRAIN, "outs": stage(outs={"runs/w": "z"})["outs"]}), ["a"], ["a"])
    assert (change.kind, change.reasons, change.outputs) == ("ran", (), {"runs/w": True})


def test_stages_to_which_the_same_happened_stand_together():
    ran = [Change(f"train@{n}", "ran", reasons, {}) for n, reasons in (("a", ("x",)), ("b", ("y",)), ("c", ("x",)))]
    other = [Change("test", "ran", ("x",), {}), Change("train@d", "new", (), {})]
    assert [[one.stage for one in group] for group in grouped([*ran, *other])] == [
        ["train@a", "train@c"],
        ["train@b"],
        ["test"],
        ["train@d"],
    ]


def test_nested_parameters_are_flat_and_an_empty_lock_has_no_stages():
    assert flat({"a": {"b": [1, 2], "c": {}}, "d": None}) == {"a.b": [1, 2], "a.c": {}, "d": None}
    assert records({}) == {}
