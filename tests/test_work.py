"""How much work a stage is."""

import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
import yaml

from dvc_parallel import estimate as tool
from dvc_parallel.display import fraction
from vanishing_variance.core.progress import Progress
from vanishing_variance.work import STARTUP, estimate, finished, noted, work

ROOT = Path(__file__).resolve().parents[1]
PARAMS = yaml.safe_load((ROOT / "params.yaml").read_text())
# Seconds of a training of 8 seeds and 4,000 or 10,000 steps, in benchmarks/at_once.json of revision 942d8cfbccc2.
MEASURED = {"argmax-short": 52.7, "argmax-long": 75.3, "dictionary-short": 244.0, "dictionary-long": 591.7}
TRAIN = "python -m stages.train --task argmax --range short --norm ln --block 0"
SHORT, LONG = "train-argmax-short-ln-0", "train-argmax-long-ln-0"


def changed(**values):
    params = yaml.safe_load((ROOT / "params.yaml").read_text())
    for key, value in values.items():
        *sections, last = key.split("__")
        section = params
        for name in sections:
            section = section[name]
        section[last] = value
    return params


def test_a_training_takes_about_as_long_as_was_measured():
    params = changed(
        tasks__argmax__steps={"short": 4000, "long": 4000},
        tasks__dictionary__steps={"short": 10000, "long": 10000},
        seeds_per_block=8,
    )
    assert {name: work(f"train-{name}-ln-0", params) for name in MEASURED} == pytest.approx(MEASURED, rel=0.1)


@pytest.mark.parametrize(
    ("note", "key", "value", "factor"),
    [
        (SHORT, "tasks__argmax__steps__short", 10 * PARAMS["tasks"]["argmax"]["steps"]["short"], 10),
        (LONG, "tasks__argmax__steps__long", 3 * PARAMS["tasks"]["argmax"]["steps"]["long"], 3),
        (LONG, "tasks__argmax__steps__short", 1, 1),
        (LONG, "seeds_per_block", 2 * PARAMS["seeds_per_block"], 2),
        ("evaluate-argmax-short-ln-0", "test__sequences", 3 * PARAMS["test"]["sequences"], 3),
        ("evaluate-argmax-short-ln-0", "temperature__sequences", 0, 1),
        ("temperature-argmax-short-ln-0", "temperature__sequences", 2 * PARAMS["temperature"]["sequences"], 2),
        ("temperature-argmax-short-ln-0", "test__lengths", [2 * one for one in PARAMS["test"]["lengths"]], 2),
        ("proposition", "proposition__sequences", 2 * PARAMS["proposition"]["sequences"], 2),
        ("proposition", "seeds_per_block", 1, 1),
        ("probe", "probe__lengths", PARAMS["probe"]["lengths"] * 2, 2),
    ],
)
def test_it_follows_the_parameters(note, key, value, factor):
    expected = factor * (work(note, PARAMS) - STARTUP)
    assert work(note, changed(**{key: value})) - STARTUP == pytest.approx(expected)


def test_long_sequences_are_more_work_and_come_late_where_the_range_grows():
    alike = {"tasks__argmax__steps": {"short": 100_000, "long": 100_000}}
    slow = changed(**alike)
    still = changed(**alike, ranges__long__growth=None)
    linear = {"shape": "linear", "start": 16, "until": 0.5}
    growing = changed(**alike, ranges__long__growth=linear)
    assert work(SHORT, slow) < work(LONG, slow) < work(LONG, growing) < work(LONG, still)
    assert finished(SHORT, PARAMS, 0.5) == finished(LONG, still, 0.5) == pytest.approx(0.5)
    whole = changed(ranges__long__growth={"shape": "linear", "start": 16, "until": 1.0})
    assert finished("train-dictionary-long-ln-0", whole, 0.5) == pytest.approx(
        0.5 * (1.9e-3 + 1.2e-4 * 40.5) / (1.9e-3 + 1.2e-4 * 70.5)
    )
    assert finished(LONG, PARAMS, 0.0) == 0.0
    assert finished(LONG, PARAMS, 1.0) == 1.0
    assert finished("evaluate-argmax-long-ln-0", PARAMS, 0.5) is None


@pytest.mark.parametrize("wrong", ["", None, [], -1, 0, "x"])
@pytest.mark.parametrize(
    "key", ["tasks", "ranges", "test", "seeds_per_block", "ranges__long__growth", "ranges__long__growth__until"]
)
def test_what_is_wrong_with_a_parameter_is_left_to_the_stage_that_checks_them(key, wrong):
    for kind in ("train", "temperature", "evaluate"):
        note = f"{kind}-argmax-long-ln-0"
        assert isinstance(work(note, changed(**{key: wrong})), float)
        finished(note, changed(**{key: wrong}), 0.5)
    assert work(LONG, {}) == work("", PARAMS) == work("train", PARAMS) == STARTUP
    assert finished(LONG, {}, 0.5) is None


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (TRAIN, SHORT),
        ("python -m stages.ttest", "ttest"),
        ("python -m stages.leaderboard_train --line direct-ln", "leaderboard_train-direct-ln"),
        ("python -m other.train", ""),
        ("sleep 3", ""),
        ("echo 'unclosed", ""),
    ],
)
def test_a_command_is_known_by_the_name_under_which_it_notes_its_time(line, name):
    assert noted((line,)) == name


def test_a_command_without_lines_has_no_name():
    assert noted(()) == ""


def test_our_stages_are_estimated_and_no_others(monkeypatch):
    monkeypatch.chdir(ROOT)
    of_minutes = "python -m stages.leaderboard_train --line softmax"  # by what it took, which dvc-parallel has noted
    commands = {"train@x": (TRAIN,), "ttest": ("python -m stages.ttest",), "other": ("sleep 3",), "line": (of_minutes,)}
    estimated = estimate(commands | {"none": ()})
    assert {name: seconds for name, (seconds, _) in estimated.items()} == {
        "train@x": work(SHORT, PARAMS),
        "ttest": STARTUP,
    }
    assert [finished(0.5) for _, finished in estimated.values()] == [pytest.approx(0.5), None]


def test_what_is_wrong_with_params_yaml_is_left_to_the_stage_that_checks_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert estimate({"train@x": (TRAIN,)})["train@x"][0] == STARTUP


def test_dvc_parallel_finds_the_estimator_as_pyproject_declares_it(monkeypatch):
    declared = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"][tool.GROUP]
    points = [EntryPoint(name, value, tool.GROUP) for name, value in declared.items()]
    monkeypatch.setattr(tool, "entry_points", lambda group: [point for point in points if point.group == group])
    monkeypatch.chdir(ROOT)
    assert tool.Estimate({"train@x": (TRAIN,)}).seconds == {"train@x": work(SHORT, PARAMS)}


def test_dvc_parallel_reads_our_progress(capsys):
    with Progress("train x", 30, "seed-steps") as progress:
        progress(30)
    assert fraction(capsys.readouterr().err.strip()) == 1.0
