"""How much work a stage is."""

import copy
import tomllib
from importlib.metadata import EntryPoint

import pytest
import yaml
from checkout import ROOT

from dvc_parallel import estimate as tool
from vanishing_variance.work import STARTUP, work

PARAMS = yaml.safe_load((ROOT / "params.yaml").read_text())
TRAIN = "python -m stages.train --task argmax --range short --norm ln --block 0"
SHORT = "train-argmax-short-ln-0"


def test_a_trainings_work_follows_its_steps_and_wrong_parameters_are_left_to_the_stage_that_checks_them():
    params = copy.deepcopy(PARAMS)
    params["tasks"]["argmax"]["steps"] = {name: 10 * of for name, of in PARAMS["tasks"]["argmax"]["steps"].items()}
    assert work(SHORT, params) - STARTUP == pytest.approx(10 * (work(SHORT, PARAMS) - STARTUP))
    assert work(SHORT, {}) == work(SHORT, PARAMS | {"ranges": -1}) == STARTUP


def test_our_stages_are_estimated_and_no_others_as_pyproject_declares_it(monkeypatch):
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"][tool.GROUP]
    points = [EntryPoint(name, value, tool.GROUP) for name, value in declared.items()]
    monkeypatch.setattr(tool, "entry_points", lambda group: [point for point in points if point.group == group])
    monkeypatch.setattr(tool, "_noted", dict)
    monkeypatch.chdir(ROOT)
    commands = {"train@x": (TRAIN,), "ttest": ("python -m stages.ttest",), "other": ("echo 'unclosed",)}
    assert tool.Estimate(commands).seconds == {"train@x": work(SHORT, PARAMS), "ttest": STARTUP}
