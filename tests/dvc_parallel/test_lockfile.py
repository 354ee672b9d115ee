"""dvc.lock beside what DVC's own code leaves of the same records, added one after the other."""

import pytest
from dvc.utils.serialize import modify_yaml

from dvc_parallel.lockfile import LockFile


def record(number, **more):
    deps = [{"path": f"a rather long name of a file, so long that its line is folded, {number}", "md5": "0" * 32}]
    return {"cmd": f"echo {number} && echo '{number}: it'\necho again", "deps": deps, **more}


def shared(number):
    """One that DVC writes with an anchor."""
    value = [1, 2]
    return record(number, params={"p": value, "q": value})


def by_dvc(path, records):
    with modify_yaml(path) as data:
        if not data:
            data.update({"schema": "2.0"})
        data["stages"] = data.get("stages", {})
        data["stages"].update(records)


STEPS = [
    {"b@1": record(1), "a": record(2)},
    {"c": record(3, params={"params.yaml": {"x": 1e-3, "y": None, "z": [True, "no"], "none": {}}})},
    {"b@1": record(4), "d" * 200: record(5)},
    {"anchors": shared(7)},
    {"anchors too": shared(8)},
    {"a comment": record(10, params={"p": "x # y"})},
    {"c": record(11)},
]
THERE = {
    "nothing": "",
    "what DVC wrote": "schema: '2.0'\nstages:\n  b@1:\n    cmd: x\n    deps:\n    - path: y\n  a:\n    cmd: z\n",
    "comments": "# 1\nschema: '2.0'\nstages:\n  # 2\n  b@1: # 3\n    cmd: x # 4\n  # 5\n  a:\n    cmd: z\n# 6\n",
    "a comment between stages": "schema: '2.0'\nstages:\n  b@1:\n    cmd: x\n  # 5\n  a:\n    cmd: z\n",
    "other indents": "schema: '2.0'\nstages:\n    b@1:\n        cmd: x\n    a: {cmd: z}\n",
    "anchors": "schema: '2.0'\nstages:\n  b@1: &one\n    cmd: x\n  a: *one\n",
    "no stages": "schema: '2.0'\nstages: {}\n",
    "a schema alone": "schema: '2.0'\n",
    "data sets first": "schema: '2.0'\ndatasets:\n- name: x\nstages:\n  b@1:\n    cmd: x\n",
    "data sets last": "schema: '2.0'\nstages:\n  b@1:\n    cmd: x\ndatasets:\n- name: x\n",
}


@pytest.mark.parametrize("there", THERE)
def test_the_file_is_dvcs_own_after_each_record(tmp_path, there):
    ours, theirs = tmp_path / "ours.lock", tmp_path / "theirs.lock"
    for path in (ours, theirs):
        if THERE[there]:
            path.write_text(THERE[there])
    lock = LockFile(ours)
    for records in STEPS:
        assert lock.update(records)
        by_dvc(theirs, records)
        assert ours.read_text() == theirs.read_text()
    assert not LockFile(ours).update(STEPS[-1])


def test_what_somebody_else_wrote_meanwhile_stays(tmp_path):
    ours, theirs = tmp_path / "ours.lock", tmp_path / "theirs.lock"
    lock = LockFile(ours)
    lock.update(STEPS[0])
    by_dvc(ours, STEPS[1])
    lock.update(STEPS[2])
    for records in STEPS[:3]:
        by_dvc(theirs, records)
    assert ours.read_text() == theirs.read_text()
