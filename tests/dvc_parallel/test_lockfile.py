"""dvc.lock beside what DVC's own code leaves of the same records, added one after the other."""

import pytest
from dvc.utils.serialize import modify_yaml

from dvc_parallel.lockfile import update_lock

VALUE = [1, 2]


def record(number, **more):
    deps = [{"path": f"a rather long name of a file, so long that its line is folded, {number}", "md5": "0" * 32}]
    return {"cmd": f"echo {number} && echo '{number}: it'\necho again", "deps": deps, **more}


def by_dvc(path, name, one):
    with modify_yaml(path) as data:
        if not data:
            data.update({"schema": "2.0"})
        data["stages"] = data.get("stages", {})
        data["stages"][name] = one


STEPS = [
    ("b@1", record(1)),
    ("a", record(2)),
    ("c", record(3, params={"params.yaml": {"x": 1e-3, "y": None, "z": [True, "no"], "none": {}}})),
    ("b@1", record(4)),
    ("d" * 200, record(5)),
    ("anchors", record(7, params={"p": VALUE, "q": VALUE})),
    ("shared", record(8, params={"p": VALUE})),
    ("shared too", record(9, params={"p": VALUE})),
    ("a comment", record(10, params={"p": "x # y"})),
    ("c", record(11)),
]
THERE = {
    "nothing": "",
    "what DVC wrote": "schema: '2.0'\nstages:\n  b@1:\n    cmd: x\n    deps:\n    - path: y\n  a:\n    cmd: z\n",
    "comments": "# 1\nschema: '2.0'\nstages:\n  # 2\n  b@1: # 3\n    cmd: x # 4\n  # 5\n  a:\n    cmd: z\n# 6\n",
    "anchors": "schema: '2.0'\nstages:\n  b@1: &one\n    cmd: x\n  a: *one\n",
    "data sets": "schema: '2.0'\ndatasets:\n- name: x\nstages:\n  b@1:\n    cmd: x\n",
}


@pytest.mark.parametrize("there", THERE)
def test_the_file_is_dvcs_own_after_each_update(tmp_path, there):
    ours, theirs = tmp_path / "ours.lock", tmp_path / "theirs.lock"
    for path in (ours, theirs):
        if THERE[there]:
            path.write_text(THERE[there])
    for name, one in STEPS:
        update_lock(ours, {name: one})
        by_dvc(theirs, name, one)
        assert ours.read_text() == theirs.read_text()


def test_what_cannot_be_written_leaves_what_was_there(tmp_path, monkeypatch):
    path = tmp_path / "dvc.lock"
    path.write_text(THERE["what DVC wrote"])

    def full(number):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match=r"cannot be written: No space left on device: .*dvc\.lock"):
        update_lock(path, {"a": record(1)})
    assert path.read_text() == THERE["what DVC wrote"]
    assert [one.name for one in tmp_path.iterdir()] == ["dvc.lock"]
