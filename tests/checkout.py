"""A copy of this checkout at smoke scale, in a repository of its own, and the names of its stages."""

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import yaml

from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.yaml import read_yaml, written
from vanishing_variance.params import changed
from vanishing_variance.report.strongest import PAPER_SCALE
from vanishing_variance.studies.new import filled

ROOT = Path(__file__).resolve().parents[1]
# What the page reads of studies, and the README's picture: results that no stage of the copy writes.
_READ = ("study.yaml", "results/kept.csv")
OF_NO_STAGE = ("plots/readme/", *(f"studies/{name}/{file}" for name in ("fresh", PAPER_SCALE) for file in _READ))
TASKS, RANGES, NORMS = ("argmax", "dictionary"), ("short", "long"), ("none", "std", "ln")


def stages(kind, block=0, tasks=TASKS, ranges=RANGES, norms=NORMS):
    """The names of the stages of one kind."""
    return {f"{kind}@{task}-{name}-{norm}-{block}" for task in tasks for name in ranges for norm in norms}


def interventions(norms=NORMS, block=0):
    """The names of the stages of interventions, with the partner that each has."""
    found = set()
    for norm in norms:
        kind, partner = ("interventions-none", "ln") if norm == "none" else ("interventions", "none")
        found |= stages(kind, block, norms=[f"{norm}-{partner}"])
    return found


def proposition(norms=NORMS):
    """The names of the stages of Proposition 1."""
    return stages("proposition", ranges=["short"], norms=norms)


def added(norm):
    """The names of the stages that another treatment adds: its models, and the inside of them."""
    return stages("train", norms=[norm]) | stages("test", norms=[norm]) | interventions([norm]) | proposition([norm])


TRAIN, TEST = stages("train"), stages("test")
INSIDE = interventions() | proposition()
GENERATE = {"generate@argmax", "generate@dictionary"}
# What depends on the treatment and is kept by git alone.
RESULTS = {"compare", "figures", "claims", "report"}
# The one study of a copy, tests/smoke-study.yaml, a line of which git has the results alone, and its blocks, whose
# list DVC needs before the plan is written.
STUDY = "studies/leaderboard"
KEPT = """task,line,seed,length,last
argmax,before,0,4,0.75
argmax,before,0,16,0.5
argmax,before,0,64,0.5
argmax,before,1,4,0.5
argmax,before,1,16,0.25
argmax,before,1,64,0.25
"""
RUNS = {
    f"{task}-{line}-0": {"task": task}
    for task in ("argmax", "dictionary")
    for line in ("none", "power-ln", "transformer")
}
ALL = {"check", "probe", "figure1", *RESULTS, *INSIDE, *GENERATE, *TRAIN, *TEST}


def _cores(number):
    """So many of this machine's cores, a different one first for each process that runs tests."""
    if not hasattr(os, "sched_getaffinity"):
        return None
    there = sorted(os.sched_getaffinity(0))
    first = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % len(there)
    return set((there[first:] + there[:first])[:number])


def edit_yaml(path, changes):
    """Set the values at dotted keys of a file."""
    write_text(path, written(changed(read_yaml(path), changes)))


class Copy:
    """A copy of this checkout in a repository of its own."""

    def __init__(self, path):
        self.path = path
        own = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "DVC_NO_ANALYTICS": "1"}
        who = {
            f"GIT_{role}_{what}": "test@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
        }
        self.environment = {**os.environ, **own, **who}
        self.environment.pop("PYTHONDONTWRITEBYTECODE", None)
        self.environment.pop("PYTHONPATH", None)

    def __call__(self, *command, exit_code=0):
        """What the command printed, both streams."""
        started = self.start(*command)
        printed = started.communicate()[0]
        assert started.returncode == exit_code, printed
        return printed

    def start(self, *command, cores=1, **options):
        """Start a command in a process group of its own. On one core small stages start no processes."""
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True} | options
        some = _cores(cores)

        def prepare():
            signal.signal(signal.SIGINT, signal.SIG_DFL)  # a shell's background jobs ignore it, and so would this
            if some:
                os.sched_setaffinity(0, some)

        return subprocess.Popen(
            command,
            cwd=self.path,
            env=self.environment,
            start_new_session=True,
            preexec_fn=prepare,  # noqa: PLW1509
            **options,
        )

    def ran(self, *command):
        """The stages that a DVC command ran."""
        return set(re.findall(r"^Running stage '(.*)':$", self(*command), re.MULTILINE))

    def outputs(self):
        """stage -> path -> hash of every output in dvc.lock."""
        stages = yaml.safe_load((self.path / "dvc.lock").read_text())["stages"]
        return {name: {out["path"]: out["md5"] for out in stage.get("outs", [])} for name, stage in stages.items()}

    def commit(self, message):
        self("git", "add", "--all")
        self("git", "commit", "--quiet", "--message", message)

    @classmethod
    def of_this_checkout(cls, path):
        """What git lists here, with the smoke parameters and without results, committed."""
        copy = cls(path)
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            check=True,
            stdout=subprocess.PIPE,
            text=True,
        )
        for name in listed.stdout.split("\0"):
            generated = name.endswith("dvc.lock") or name.startswith(("metrics/", "plots/", "studies/"))
            generated &= not name.startswith(OF_NO_STAGE)
            if name and not generated and (ROOT / name).is_file():
                (copy.path / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / name, copy.path / name)
        shutil.copy(ROOT / "tests/smoke.yaml", copy.path / "params.yaml")
        write_text(copy.path / STUDY / "dvc.yaml", filled("dvc.yaml", Path(STUDY).name))
        shutil.copy(ROOT / "tests/smoke-study.yaml", copy.path / STUDY / "study.yaml")
        of_other_task = KEPT.partition("\n")[2].replace("argmax", "dictionary")
        write_text(copy.path / STUDY / "results/kept.csv", KEPT + of_other_task)
        write_text(copy.path / STUDY / "plan.yaml", written({"runs": RUNS, "intervened": {}, "proposed": {}}))
        copy("git", "init", "--quiet", "--initial-branch", "main")
        copy.commit("smoke scale")
        return copy
