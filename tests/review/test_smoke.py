from pathlib import Path

import pytest

from vanishing_variance.io.yaml import read_yaml
from vanishing_variance.review.smoke import LINES, WHAT, WIDTH, at, reproduced, settings, untried

ROOT = Path(__file__).resolve().parents[2]
PRINTED = """Running stage 'check':
> python -m stages.check

Running stage 'train@argmax-short-ln-0':
> python -m stages.train
\x1b[32m  0%\x1b[0m\r 50%\r100%
error: params.yaml: norm is 'bogus'
ERROR: failed to reproduce 'train@argmax-short-ln-0': failed to run: python -m stages.train, exited with 2
"""


def test_what_is_run_is_the_trees_and_how_much_of_it_the_smoke_scales():
    params, smoke = read_yaml(ROOT / "params.yaml"), read_yaml(ROOT / "tests/smoke.yaml")
    params["norm"], params["model"]["gelu"] = "std", "tanh"
    taken = settings(params, smoke)
    assert (taken["norm"], taken["model.gelu"]) == ("std", "tanh")
    assert set(taken) == set(WHAT)
    for size in ("model.width", "test.lengths", "seeds_per_block", "tasks.argmax.training.steps"):
        assert at(params, size) != at(smoke, size)
        assert size not in taken


def test_a_key_that_one_of_them_lacks_is_left_alone():
    assert settings({"norm": "std", "seed": 1}, {"norm": "ln"}) == {"norm": "std"}
    assert settings({"model": None, "norm": "ln"}, {"norm": "ln", "model": {"gelu": "exact"}}) == {"norm": "ln"}


def test_changed_parameters_that_are_not_tried_are_told():
    assert untried(["norm", "test.lengths", "model.gelu"]) == ["test.lengths"]


def test_a_run_without_failure_is_the_stages_that_ran():
    run = reproduced(PRINTED, 0)
    assert (run.ran, run.failed, run.lines) == (["check", "train@argmax-short-ln-0"], None, [])


def test_a_failure_is_the_stage_and_what_it_printed_last():
    run = reproduced(PRINTED, 1)
    assert run.failed == "train@argmax-short-ln-0"
    assert run.lines[0] == "Running stage 'train@argmax-short-ln-0':"
    assert "100%" in run.lines
    assert run.lines[-2] == "error: params.yaml: norm is 'bogus'"


@pytest.mark.parametrize("printed", ["ERROR: 'dvc.yaml' is invalid.\n", "Running stage 'a':\n> x\nERROR: disk\n"])
def test_a_failure_of_dvcs_own_is_shown_whole(printed):
    run = reproduced(printed, 255)
    assert run.failed == ""
    assert run.lines == printed.splitlines()


def test_what_is_shown_of_a_failure_is_not_long():
    printed = "Running stage 'a':\n" + f"{'x' * 1000}\n" * 100 + "ERROR: failed to reproduce 'a': no\n"
    run = reproduced(printed, 1)
    assert len(run.lines) == LINES
    assert max(map(len, run.lines)) == WIDTH
