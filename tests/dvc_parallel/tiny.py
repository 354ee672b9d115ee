"""A DVC repository of small stages, each a line of shell, and serial DVC to compare with."""

import shutil
from contextlib import chdir, suppress
from pathlib import Path

import yaml
from dvc.exceptions import ReproductionError
from dvc.repo import Repo

ROOT = Path(__file__).resolve().parents[2]
# a and b -> both -> end; alone. Each notes in ran/<name> that it ran.
STAGES = {
    "a": {"cmd": "echo a >> ran/a; cat in > a", "deps": ["in"], "outs": ["a"]},
    "b": {"cmd": "echo b >> ran/b; echo b ${of.b} > b", "params": ["of.b"], "deps": ["in"], "outs": ["b"]},
    "both": {"cmd": "echo both >> ran/both; cat a b > both", "deps": ["a", "b"], "outs": ["both"]},
    "end": {"cmd": "echo end >> ran/end; wc -l < both > end", "deps": ["both"], "outs": [{"end": {"cache": False}}]},
    "alone": {"cmd": "echo alone >> ran/alone; mkdir alone; echo 1 > alone/one", "deps": ["in"], "outs": ["alone"]},
}


def stage(name, *lines, **more):
    """A stage that writes the file of its name."""
    return {"cmd": "; ".join([*lines, f"echo > {name}"]), "outs": [name], **more}


def until(path):
    """A line of shell that waits for a file; it fails after minutes."""
    return f"for i in $(seq 3600); do [ -e {path} ] && break; sleep 0.05; done; [ -e {path} ] || exit 1"


class Tiny:
    """The repository in a folder."""

    def __init__(self, path):
        self.path = path

    @classmethod
    def new(cls, path, stages=STAGES):
        for folder in ("ran", ".dvc"):
            (path / folder).mkdir(parents=True)
        (path / ".dvc/config").write_text("[core]\nno_scm = true\nanalytics = false\ncheck_update = false\n")
        tiny = cls(path)
        tiny.write(stages)
        return tiny

    def write(self, stages=STAGES, b=1, text="in\n"):
        (self.path / "dvc.yaml").write_text(yaml.safe_dump({"stages": stages}, sort_keys=False))
        (self.path / "params.yaml").write_text(yaml.safe_dump({"of": {"b": b}}))
        (self.path / "in").write_text(text)

    def copied(self):
        return Tiny(shutil.copytree(self.path, self.path.with_name("copy")))

    def dvc(self, *targets, keep_going=False, **options):
        """Run `dvc repro`, whether it goes well or not."""
        with chdir(self.path), Repo(str(self.path)) as repo, suppress(ReproductionError):
            repo.reproduce(list(targets), on_error="keep-going" if keep_going else "fail", **options)

    def ran(self):
        """How often each stage ran since the last time this was asked."""
        notes = {path.name: len(path.read_text().splitlines()) for path in (self.path / "ran").iterdir()}
        shutil.rmtree(self.path / "ran")
        (self.path / "ran").mkdir()
        return notes

    def lock(self):
        return (self.path / "dvc.lock").read_text()

    def recorded(self):
        return set(yaml.safe_load(self.lock())["stages"]) if (self.path / "dvc.lock").exists() else set()
