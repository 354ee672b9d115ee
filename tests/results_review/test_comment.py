"""What the comment says of stale stages, by the words of `dvc status`."""

import pytest

from results_review.comment import stale_stages

# A clone without DVC's cache.
ABSENT = {"runs/checked": "deleted", "data/argmax": "deleted"}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ([{"changed deps": ABSENT}, {"changed outs": {"runs/weights": "not in cache"}}], None),
        ([{"changed deps": {**ABSENT, "src/a.py": "modified", "params.yaml": {"norm": "new"}}}], "`norm`, `src/a.py`"),
        ([{"changed deps": ABSENT}, {"changed outs": {"runs/weights": "deleted"}}], "`runs/weights` is deleted"),
        ([{"changed outs": {"metrics/a.json": "modified"}}], "`metrics/a.json` is modified"),
        (["changed command"], "changed command"),
        ([{"changed deps": dict.fromkeys("abcde", "modified")}], "`a`, `b`, `c`, 2 more"),
    ],
)
def test_a_stage_is_stale_by_what_differs_not_by_what_only_the_cache_lacks(changes, said):
    lines = stale_stages({"train@x": changes}).splitlines()[2:]
    assert lines == ([f"- `train@x`: {said}"] if said else [])


def test_stages_of_a_matrix_that_differ_alike_are_one_line():
    status = {"train@x": ["changed command"], "check": ["always changed"], "train@y": ["changed command"]}
    assert stale_stages(status).splitlines()[2:] == [
        "- `train`: changed command (2 stages)",
        "- `check`: always changed",
    ]
