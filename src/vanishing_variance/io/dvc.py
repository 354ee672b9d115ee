"""What DVC says of a checkout, and a run of its stages."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vanishing_variance.errors import InputError
from vanishing_variance.review.smoke import Reproduced, reproduced


def stage_names(root: Path) -> list[str]:
    """The stages of the DAG, those of a matrix one by one."""
    return _dvc(root, "stage", "list", "--name-only").split()


def status(root: Path) -> Any:
    """stage -> what differs from its record in dvc.lock (`review.stale` has its form)."""
    return json.loads(_dvc(root, "status", "--json"))


def params_diff(root: Path, revision: str) -> Any:
    """file -> dotted key -> {"old": …, "new": …} of every parameter that differs from a commit's."""
    return json.loads(_dvc(root, "params", "diff", "--json", revision))


def metrics_diff(root: Path, revision: str, targets: Sequence[str] = ()) -> Any:
    """The same of metrics: of those that dvc.yaml declares, or of the files `targets`, whatever they are."""
    return json.loads(_dvc(root, "metrics", "diff", "--json", revision, *(["--targets", *targets] if targets else [])))


def reproduce(root: Path) -> Reproduced:
    """`dvc repro`: the stages that ran, and what failed. On one core, so that small stages start no processes."""
    done = subprocess.run(
        [sys.executable, "-m", "dvc", "repro"],
        cwd=root,
        env=_environment(),
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        preexec_fn=_on_one_core if hasattr(os, "sched_setaffinity") else None,
    )
    return reproduced(done.stdout.decode(errors="replace"), done.returncode)


def _on_one_core() -> None:
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})


def _environment() -> dict[str, str]:
    """This one's, where `python` of a stage's command is this Python."""
    return {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"}


def _dvc(root: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "dvc", *arguments]
    done = subprocess.run(command, cwd=root, env=_environment(), check=False, capture_output=True, text=True)
    if done.returncode:
        said = done.stderr.strip().splitlines() or [f"exit code {done.returncode}"]
        raise InputError(f"dvc {' '.join(arguments)}: {said[0]}")
    return done.stdout
