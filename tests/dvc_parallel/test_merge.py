"""`dvc-parallel merge-lock`: a study grows in two clones, whose results are then merged as the documentation says."""

import re
import subprocess
import sys
from contextlib import chdir

import pytest
import yaml
from dvc.repo import Repo
from tiny import ROOT

from dvc_parallel import cli
from dvc_parallel.merge import merged

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

# As that of a study; each training is noted in ran.
GRAPH = """
vars: ["plan.yaml:runs"]
stages:
  plan:
    wdir: ../..
    cmd: cp studies/mine/study.yaml studies/mine/plan.yaml
    deps: [studies/mine/study.yaml]
    outs: [studies/mine/plan.yaml: {cache: false}]
  train:
    matrix: {run: "${runs}"}
    wdir: ../..
    cmd: mkdir -p runs; echo ${item.run} | tee runs/${item.run} >> ran
    deps: [code]
    params: [studies/mine/plan.yaml: ["rates.${item.run}"]]
    outs: ["runs/${item.run}"]
  test:
    matrix: {run: "${runs}"}
    wdir: ../..
    cmd: mkdir -p studies/mine/results; cp runs/${item.run} studies/mine/results/${item.run}.csv
    deps: ["runs/${item.run}"]
    outs: ["studies/mine/results/${item.run}.csv": {cache: false, persist: true}]
  compare:
    wdir: ../..
    cmd: cat studies/mine/results/* > studies/mine/board.csv; cp studies/mine/board.csv studies/mine/board.md
    deps: [studies/mine/results]
    params: [studies/mine/plan.yaml: [runs]]
    outs: [studies/mine/board.csv: {cache: false}, studies/mine/board.md: {cache: false, persist: true}]
"""
CONFIG = "[core]\nanalytics = false\ncheck_update = false\n"
LOCK = "studies/mine/dvc.lock"


class Clone:
    """A clone of the repository with the study."""

    def __init__(self, path):
        self.path = path

    def git(self, *arguments, succeeds=True):
        who = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
        done = subprocess.run(["git", *who, *arguments], cwd=self.path, check=False, capture_output=True, text=True)
        assert (done.returncode == 0) == succeeds, done
        return done.stdout

    def make(self, **rates):
        """`make study`, in small: plan what study.yaml names, or these runs; returns the runs that are trained."""
        study = self.path / "studies/mine/study.yaml"
        if rates:
            study.write_text(yaml.safe_dump({"runs": list(rates), "rates": rates}))
        (self.path / "studies/mine/plan.yaml").write_text(study.read_text())
        with chdir(self.path), Repo() as repo:
            repo.reproduce(["studies/mine/dvc.yaml"], allow_missing=True)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "more", "--allow-empty")
        trained = self.path / "ran"
        runs = trained.read_text().split() if trained.exists() else []
        trained.unlink(missing_ok=True)
        return runs

    def cloned(self, name):
        clone = Clone(self.path.with_name(name))
        self.git("clone", "--quiet", ".", str(clone.path))
        return clone

    def lock(self):
        return yaml.safe_load((self.path / LOCK).read_text())["stages"]


@pytest.fixture
def origin(tmp_path):
    """One block of seeds, trained."""
    origin = Clone(tmp_path / "origin")
    files = {"code": "", ".gitignore": "/runs/\n/ran\n/.dvc/tmp\n/.dvc/cache\n", ".dvc/config": CONFIG}
    for name, text in {**files, "studies/mine/dvc.yaml": GRAPH}.items():
        (origin.path / name).parent.mkdir(parents=True, exist_ok=True)
        (origin.path / name).write_text(text)
    origin.git("init", "--quiet", "--initial-branch", "main")
    assert origin.make(first=1) == ["first"]
    return origin


def documented():
    """The commands of docs/studies.md that merge a study."""
    text = (ROOT / "docs/studies.md").read_text()
    (block,) = re.findall(r"```sh\n(git merge .*?)```", text, re.DOTALL)
    return [line.partition("#")[0].strip() for line in block.splitlines()]


def test_blocks_of_seeds_of_two_clones_are_merged_and_none_is_trained_again(origin, monkeypatch):
    ours, theirs = origin.cloned("ours"), origin.cloned("theirs")
    assert ours.make(first=1, second=1) == ["second"]
    assert theirs.make(first=1, third=1) == ["third"]
    ours.git("fetch", "--quiet", str(theirs.path), "main:other")
    merge, checkout, merge_lock, study, commit, make = documented()
    ours.git(*merge.split()[1:], succeeds=False)
    ours.git(*checkout.split()[1:])
    with monkeypatch.context() as patch:
        patch.chdir(ours.path)
        patch.setattr(sys, "argv", merge_lock.split())
        with pytest.raises(SystemExit, match="0"):
            cli.main()
    assert study == ""
    rates = {"first": 1, "second": 1, "third": 1}
    (ours.path / "studies/mine/study.yaml").write_text(yaml.safe_dump({"runs": list(rates), "rates": rates}))
    for command in commit.split(" && "):
        ours.git(*command.split()[1:])
    assert make == "make study NAME=mine"
    trained = {f"{stage}@{run}" for stage in ("train", "test") for run in rates}
    assert ours.lock().keys() == trained
    assert ours.make() == []
    assert ours.lock().keys() == {"plan", "compare"} | trained
    assert (ours.path / "studies/mine/board.csv").read_text() == "first\nsecond\nthird\n"


@pytest.mark.parametrize(
    ("base", "our", "their", "result"),
    [
        ({}, {"x": 1}, {}, {"x": 1}),
        ({}, {}, {"x": 1}, {"x": 1}),
        ({"x": 1}, {"x": 1}, {"x": 2}, {"x": 2}),
        ({"x": 1}, {"x": 2}, {"x": 1}, {"x": 2}),
        ({"x": 1}, {"x": 2}, {"x": 2}, {"x": 2}),
        ({"x": 1}, {}, {"x": 1}, {}),
        ({"x": 1}, {"x": 1}, {}, {}),
        ({"x": 1}, {"x": 2}, {"x": 3}, None),
        ({"x": 1}, {"x": 2}, {}, None),
        ({}, {"x": 2}, {"x": 3}, None),
    ],
)
def test_what_one_side_changed_is_taken_and_what_both_changed_is_dropped(base, our, their, result):
    same = {"same": 0}
    expected = ({**same, **result}, []) if result is not None else (same, ["x"])
    assert merged({**same, **base}, {**same, **our}, {**same, **their}) == expected


@pytest.mark.parametrize(
    ("ours", "theirs", "path", "said"),
    [
        (None, None, LOCK, "git has no conflict in it"),
        (None, None, "studies/other/dvc.lock", "no such file"),
        (None, None, "studies", "no such file"),
        ("stages: [", "stages: {}", LOCK, "a version in git's index is no dvc.lock: "),
        ("a: 1", "b: 1", LOCK, "a version in git's index is no dvc.lock: "),
        ("", "stages: {}", LOCK, "one side deleted it; "),
    ],
)
def test_where_there_is_nothing_to_merge_it_is_one_line_and_nothing_is_touched(
    origin, monkeypatch, capsys, ours, theirs, path, said
):
    if ours is not None:
        origin.git("branch", "other")
        for branch, text in (("main", ours), ("other", theirs)):
            origin.git("checkout", "--quiet", branch)
            (origin.path / LOCK).write_text(text)
            if not text:
                (origin.path / LOCK).unlink()
            origin.git("add", "--all")
            origin.git("commit", "--quiet", "--message", branch)
        origin.git("merge", "main", succeeds=False)
    before = origin.git("status", "--porcelain"), (origin.path / LOCK).read_text()
    monkeypatch.chdir(origin.path)
    monkeypatch.setattr(sys, "argv", ["dvc-parallel", "merge-lock", path])
    with pytest.raises(SystemExit, match="2"):
        cli.main()
    printed = capsys.readouterr().err
    assert printed.startswith(f"error: {path}: {said}")
    assert printed.count("\n") == 1
    assert (origin.git("status", "--porcelain"), (origin.path / LOCK).read_text()) == before
