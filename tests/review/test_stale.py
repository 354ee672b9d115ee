import pytest

from vanishing_variance.review.stale import stale

DEPS = {"runs/checked": "deleted", "data/argmax": "deleted"}


def test_a_clone_without_the_cache_is_not_stale():
    status = {"evaluate": [{"changed deps": DEPS}, {"changed outs": {"runs/accuracy": "not in cache"}}]}
    assert stale(status, ["evaluate"]) == {}


@pytest.mark.parametrize(
    ("said", "reasons"),
    [
        (
            [{"changed deps": {**DEPS, "src/a.py": "modified", "params.yaml": {"norm": "modified"}}}],
            ["`norm`", "`src/a.py`"],
        ),
        ([{"changed deps": {"runs/checked": "modified"}}], ["`runs/checked`"]),
        ([{"changed outs": {"metrics/a.json": "deleted"}}], ["`metrics/a.json` is deleted"]),
        ([{"changed outs": {"runs/w": "modified"}}], ["`runs/w` is modified"]),
        (["changed command"], ["changed command"]),
    ],
)
def test_what_differs_from_the_record_is_said_parameters_first(said, reasons):
    assert stale({"train": said}, ["train"]) == {"train": reasons}


def test_a_stage_without_a_record_has_not_run_whatever_else_is_said():
    assert stale({"new": [{"changed deps": {"src/a.py": "modified"}}]}, []) == {"new": ["it has not run"]}
