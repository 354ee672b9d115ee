"""Both states run at smoke scale, in a clone."""

import operator
import os
import re
import subprocess
import sys
from collections.abc import Collection
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from tempfile import TemporaryDirectory

from ruamel.yaml import YAML

from results_review.commands import dvc_json, environment, git, snapshot
from results_review.compare import Comparison, compare, recorded
from results_review.stages import flat

PARAMS, LOCK = "params.yaml", "dvc.lock"
# The graphs beside the first are not run.
OTHERS = "*/**/dvc.yaml"
# Of what a run that fails printed, the last lines, and of a line the first characters.
LINES, WIDTH = 20, 300


@dataclass(frozen=True)
class Run:
    """A `dvc repro`: how many stages ran, and what it printed last, where it failed."""

    stages: int
    failure: str


@dataclass(frozen=True)
class Trial:
    """The base's run, the tree's upon its results, what differs, and the changed parameters that are not tried."""

    base: Run
    tree: Run
    comparison: Comparison
    untried: Collection[str]


def try_both(root: Path, base: str, scale: str, keep: Collection[str]) -> Trial:
    """Run the commit, then the working tree upon its results, with the parameters of the file `scale`.

    `keep`: dotted keys of params.yaml whose own values are kept, because they say what is run, not how much of it.
    """
    changed = {key for keys in dvc_json(root, "params", "diff", base).values() for key in keys}
    tree = snapshot(root)
    with TemporaryDirectory() as folder:
        copy = Path(folder, "copy")
        git(root, "clone", "--quiet", "--shared", "--no-checkout", ".", str(copy))
        git(copy, "checkout", "--quiet", "--detach", base)
        git(copy, "rm", "--quiet", "--ignore-unmatch", "--", f":(glob){OTHERS}")
        (copy / LOCK).unlink(missing_ok=True)
        _scale(copy, scale, keep)
        before = reproduce(copy)
        git(copy, "add", "--all")
        who = ("-c", "user.name=review", "-c", "user.email=review@localhost", "-c", "commit.gpgsign=false")
        git(copy, *who, "commit", "--quiet", "--no-verify", "--allow-empty", "--message", "the base's results")
        both = [*recorded(root, base).items(), *recorded(root, None, tree).items()]
        own = [record for name, record in both if record and ":" not in name]
        results = sorted({path for record in own for path in record.outputs})
        code = [".", f":(exclude,glob){OTHERS}", *(f":(exclude,literal){path}" for path in (LOCK, *results))]
        git(copy, "rm", "-r", "--force", "--quiet", "--ignore-unmatch", "--", *code)
        git(copy, "checkout", tree, "--", *code)
        _scale(copy, scale, keep)
        after = reproduce(copy)
        return Trial(before, after, compare(copy, git(copy, "rev-parse", "HEAD").strip()), sorted(changed - set(keep)))


def reproduce(root: Path) -> Run:
    """Run `dvc repro`, on one core where the system allows that, so that small stages start no processes."""
    done = subprocess.run(
        [sys.executable, "-m", "dvc", "repro"],
        cwd=root,
        env=environment(),
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        preexec_fn=_on_one_core if hasattr(os, "sched_setaffinity") else None,
    )
    printed = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]|[^\n]*\r(?!\n)", "", done.stdout.decode(errors="replace"))
    stages = len(re.findall(r"^Running stage '.*':$", printed, re.MULTILINE))
    last = [line[:WIDTH] for line in printed.splitlines() if line.strip()][-LINES:]
    return Run(stages, "\n".join(last) if done.returncode else "")


def _on_one_core() -> None:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def _scale(copy: Path, scale: str, keep: Collection[str]) -> None:
    yaml = YAML()  # YAML 1.2, as DVC's
    own, small = (yaml.load(copy / name) for name in (PARAMS, scale))
    for key, value in flat(own).items():
        if key in keep and key in flat(small):
            *sections, last = key.split(".")
            reduce(operator.getitem, sections, small)[last] = value
    yaml.dump(small, copy / PARAMS)
