"""A DVC repository of small stages, each a line of shell, to run in many ways."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

ENVIRONMENT = {
    **os.environ,
    "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    "DVC_NO_ANALYTICS": "1",
}
# a and b -> both -> end; alone. Each notes in ran/<name> that it ran.
STAGES = {
    "a": {"cmd": "echo a >> ran/a; cat in > a", "deps": ["in"], "outs": ["a"]},
    "b": {"cmd": "echo b >> ran/b; echo b ${of.b} > b", "params": ["of.b"], "deps": ["in"], "outs": ["b"]},
    "both": {"cmd": "echo both >> ran/both; cat a b > both", "deps": ["a", "b"], "outs": ["both"]},
    "end": {"cmd": "echo end >> ran/end; wc -l < both > end", "deps": ["both"], "outs": [{"end": {"cache": False}}]},
    "alone": {"cmd": "echo alone >> ran/alone; mkdir alone; echo 1 > alone/one", "deps": ["in"], "outs": ["alone"]},
}


class Tiny:
    """The repository in a folder."""

    def __init__(self, path, stages=STAGES):
        self.path = path
        (path / "ran").mkdir(parents=True)
        (path / ".gitignore").write_text("/ran/\n/a\n/b\n/both\n/alone\n")
        (path / "in").write_text("in\n")
        self.write(stages)
        self.params(b=1)
        self.dvc("init", "--quiet", "--no-scm")

    def write(self, stages):
        (self.path / "dvc.yaml").write_text(yaml.safe_dump({"stages": stages}, sort_keys=False))

    def params(self, **of):
        (self.path / "params.yaml").write_text(yaml.safe_dump({"of": of}))

    def dvc(self, *arguments, exit_code=0):
        done = subprocess.run(
            [sys.executable, "-m", "dvc", *arguments],
            cwd=self.path,
            env=ENVIRONMENT,
            check=False,
            capture_output=True,
            text=True,
        )
        assert done.returncode == exit_code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def ran(self):
        """How often each stage ran since the last time this was asked."""
        notes = {path.name: len(path.read_text().splitlines()) for path in (self.path / "ran").iterdir()}
        shutil.rmtree(self.path / "ran")
        (self.path / "ran").mkdir()
        return notes

    def lock(self):
        return (self.path / "dvc.lock").read_text()

    def recorded(self):
        return yaml.safe_load(self.lock())["stages"] if (self.path / "dvc.lock").exists() else {}

    def clean(self):
        """Whether DVC finds nothing to do."""
        return "up to date" in self.dvc("repro") and self.ran() == {}
