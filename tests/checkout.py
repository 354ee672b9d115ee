"""A copy of this checkout at smoke scale, in a repository of its own, and the names of its stages."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TASKS, NORMS = ("argmax", "dictionary"), {"short": ("none", "std", "ln"), "long": ("none", "ln")}


def stages(kind, block=0, tasks=TASKS, norms=NORMS):
    """The names of the stages of one kind."""
    pairs = [(name, norm) for name in norms for norm in norms[name]]
    prefix = {"short": kind, "long": f"{kind}-long"}
    return {f"{prefix[name]}@{task}-{name}-{norm}-{block}" for task in tasks for name, norm in pairs}


TRAIN, TEMPERATURE, EVALUATE = stages("train"), stages("temperature"), stages("evaluate")
GENERATE = {"generate@argmax", "generate@dictionary"}
RESULTS = {"ttest", "proposition", "figures", "report"}
ALL = {"check", "probe", "figure1", *RESULTS, *GENERATE, *TRAIN, *TEMPERATURE, *EVALUATE}


class Copy:
    """A copy of this checkout in a repository of its own."""

    def __init__(self, path, trace=None):
        self.path = path
        own = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "DVC_NO_ANALYTICS": "1"}
        who = {
            f"GIT_{role}_{what}": "test@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
        }
        self.environment = {**os.environ, **own, **who}
        self.environment.pop("PYTHONDONTWRITEBYTECODE", None)
        self.environment.pop("PYTHONPATH", None)
        if trace is not None:
            traced = {"PYTHONPATH": str(ROOT / "tests/tracing"), "TRACE_ROOT": str(path), "TRACE_LOG": str(trace)}
            self.environment.update(traced)

    def __call__(self, *command, exit_code=0):
        """What the command printed, both streams. On one core, so that small stages start no processes."""
        one_core = {min(os.sched_getaffinity(0))} if hasattr(os, "sched_getaffinity") else None
        done = subprocess.run(
            command,
            cwd=self.path,
            env=self.environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            preexec_fn=(lambda: os.sched_setaffinity(0, one_core)) if one_core else None,
        )
        assert done.returncode == exit_code, done.stdout
        return done.stdout

    def ran(self, *command):
        """The stages that a DVC command ran."""
        return set(re.findall(r"^Running stage '(.*)':$", self(*command), re.MULTILINE))

    def commit(self, message):
        self("git", "add", "--all")
        self("git", "commit", "--quiet", "--message", message)

    @classmethod
    def of_this_checkout(cls, path, trace):
        """What git lists here, with the smoke parameters and without results, committed."""
        copy = cls(path, trace)
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in listed.stdout.split("\0"):
            generated = name == "dvc.lock" or name.startswith(("metrics/", "plots/"))
            if name and not generated and (ROOT / name).is_file():
                (copy.path / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, copy.path / name)
        shutil.copy(ROOT / "tests/smoke.yaml", copy.path / "params.yaml")
        copy("git", "init", "--quiet")
        copy.commit("smoke scale")
        return copy
