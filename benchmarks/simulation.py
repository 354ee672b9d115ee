"""The cost of a stage to the driver of `dvc-parallel repro`: our graph, its commands asleep, 1 to 16 workers.

`python -m benchmarks.simulation` writes benchmarks/simulation.csv and prints it as a table. Each run is a process in a
DVC repository of its own: dvc.yaml as it is, with this checkout's own files as dependencies, but each command sleeps
and then writes a line into each output. Sleeping takes no CPU, so 16 workers are no crowd on 2 cores: what is measured
is the driver, with DVC and Dask. The bound is what no order of the stages can beat: the longest chain of them, or all
of them divided by the workers.
"""

import argparse
import hashlib
import json
import os
import queue
import re
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import chdir, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pandas as pd
import yaml

from benchmarks import ROOT
from benchmarks.amdahl import Stage, bound
from dvc_parallel import cli, clusters
from dvc_parallel.pipeline import Pipeline
from vanishing_variance.harness.frames import read_csv, write_csv
from vanishing_variance.harness.markdown import table
from vanishing_variance.report.strongest import OTHER_RECORDS, RECORD

RESULTS = ROOT / "benchmarks/simulation.csv"
# Seconds asleep, in about our proportions; those of other stages, too.
SECONDS, OTHERS = {"train": 2.0, "evaluate": 1.0}, 0.2
RECORDS = [f"metrics/{record}" for record in (RECORD, *OTHER_RECORDS)]
COPIED = ("src", "stages", *RECORDS, "params.yaml", "constraints.txt", ".dvcignore")
PARTS = ("plan", "start", "begin", "finish", "record", "idle")
COLUMNS = [*("scale", "stages", "workers", "wall", "again", "bound", "overhead_ms"), *PARTS, "rest", "writes"]
COLUMNS += ["lock_lines", "lock_md5"]


@dataclass(frozen=True)
class Scale:
    """Blocks of seeds, the paper's 4 or more; how much shorter the stages sleep; how many workers, 0: DVC alone."""

    blocks: int
    faster: float
    workers: tuple[int, ...]


SCALES = {"paper": Scale(4, 1, (0, 1, 2, 4, 8, 16)), "ten times": Scale(49, 10, (1, 2, 4, 8, 16))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", choices=SCALES, help="this alone; the others' rows stay")
    parser.add_argument("--workers", type=int, nargs="+", help="0 for dvc repro; these alone; the others' rows stay")
    parser.add_argument("--driver", type=int, metavar="WORKERS", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.driver:
        drive(chosen.driver)
    found = read_csv(RESULTS) if RESULTS.exists() else pd.DataFrame(columns=COLUMNS)
    for name in [chosen.scale] if chosen.scale else SCALES:
        scale = SCALES[name]
        plan = planned(scale)
        for workers in chosen.workers or scale.workers:
            took, lock = measured(scale, workers)
            least = _bound(plan, scale, max(1, workers))
            who = {"scale": name, "stages": len(plan), "workers": workers, "bound": least}
            record = {**who, **took, "overhead_ms": (took["wall"] - least) / len(plan) * 1e3}
            md5 = hashlib.md5(lock, usedforsecurity=False).hexdigest()[:8]
            record |= {"lock_lines": lock.count(b"\n"), "lock_md5": md5}
            found = with_row(found, record)
            write_csv(RESULTS, found)
            print(record, file=sys.stderr, flush=True)
    print(markdown(found))


def with_row(found: pd.DataFrame, record: Mapping[str, Any]) -> pd.DataFrame:
    """The table with a record, in the place of one of the same scale and workers, in order."""
    others = found[(found["scale"] != record["scale"]) | (found["workers"] != record["workers"])]
    rows = pd.DataFrame([*others.to_dict("records"), dict(record)])
    return rows.sort_values(["scale", "workers"], ignore_index=True)[COLUMNS].round(2)


def measured(scale: Scale, workers: int) -> tuple[dict[str, Any], bytes]:
    """Return what a run by `workers`, 0 for `dvc repro`, takes (s), `again` with nothing to do; and its dvc.lock."""
    with repository(scale) as (root, environment):
        command = ["benchmarks.simulation", "--driver", str(workers)] if workers else ["dvc", "repro"]
        wall, said = _timed(root, environment, *command)
        lock = (root / "dvc.lock").read_bytes()
        again, _ = _timed(root, environment, *command)
        if (root / "dvc.lock").read_bytes() != lock:
            sys.exit(f"error: {' '.join(command)}: run once more, it writes another dvc.lock")
    if not workers:
        return {"wall": wall, "again": again} | dict.fromkeys((*PARTS, "rest", "writes")), lock
    parts = json.loads(said.splitlines()[-1])
    return {"wall": wall, "again": again, **parts, "rest": wall - sum(parts[part] for part in PARTS)}, lock


def _timed(root: Path, environment: Mapping[str, str], *command: str) -> tuple[float, str]:
    began = time.perf_counter()
    said = _run(root, environment, sys.executable, "-m", *command)
    return time.perf_counter() - began, said


@contextmanager
def repository(scale: Scale) -> Iterator[tuple[Path, dict[str, str]]]:
    """A DVC repository, without git, in a folder that is removed; the environment in which to run what is there."""
    with TemporaryDirectory() as folder:
        root = Path(folder)
        environment = {**os.environ, "PYTHONPATH": str(ROOT), "DVC_NO_ANALYTICS": "1"}
        environment["DVC_SITE_CACHE_DIR"] = str(root / ".dvc/site")
        build(root, scale, environment)
        yield root, environment


def build(root: Path, scale: Scale, environment: Mapping[str, str]) -> None:
    """The repository, without git."""
    tracked = _run(ROOT, environment, "git", "ls-files", "-z", "--", *COPIED)
    for name in filter(None, tracked.split("\0")):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes((ROOT / name).read_bytes())
    params = yaml.safe_load((root / "params.yaml").read_text())
    (root / "params.yaml").write_text(yaml.safe_dump(params | {"blocks": list(range(scale.blocks))}))
    stages = yaml.safe_load((ROOT / "dvc.yaml").read_text())["stages"]
    read = {dep for stage in stages.values() for dep in stage["deps"]}
    for name, stage in stages.items():
        stage["cmd"] = _asleep(name, stage, scale, read)
    (root / "dvc.yaml").write_text(yaml.safe_dump({"stages": stages}, sort_keys=False))
    _run(root, environment, sys.executable, "-m", "dvc", "init", "--quiet", "--no-scm", "--force")


def _seconds(stage: str, scale: Scale) -> float:
    return SECONDS.get(re.split("[-@]", stage, maxsplit=1)[0], OTHERS) / scale.faster


def _asleep(name: str, stage: Mapping[str, Any], scale: Scale, read: Collection[str]) -> str:
    """Return a command that sleeps, then writes a line into each output, or into those of its files that are `read`."""
    named = [next(iter(out)) if isinstance(out, dict) else out for out in stage["outs"] + stage.get("metrics", [])]
    outs = [path for out in named for path in sorted(dep for dep in read if dep.startswith(f"{out}/")) or [out]]
    folders = sorted({os.path.dirname(out) for out in outs})
    item = " ${item}" if "matrix" in stage else ""
    return f"sleep {_seconds(name, scale):g}; mkdir -p {' '.join(folders)}; echo {name}{item} | tee {' '.join(outs)}"


def planned(scale: Scale) -> dict[str, list[str]]:
    """The stages, and what each waits for."""
    with repository(scale) as (root, _), chdir(root):
        return Pipeline(root).plan([], downstream=False)


def _bound(plan: Mapping[str, Sequence[str]], scale: Scale, workers: int) -> float:
    """Seconds: no order of the stages takes so many workers less."""
    alone = {name: Stage(_seconds(name, scale), 0.0, processes=1) for name in plan}
    return bound(alone, plan, workers)


class Waiting(queue.SimpleQueue[Any]):
    """The driver's queue, where it waits; its own class, which can be watched."""


def drive(workers: int) -> None:
    """Run the command here; the last line printed is JSON: the seconds that its parts took, `writes` of dvc.lock."""
    spent, calls = dict.fromkeys(PARTS, 0.0), Counter[str]()

    def watch(owner: Any, name: str, part: str) -> None:
        inner: Callable[..., Any] = getattr(owner, name)

        def timed(*arguments: Any, **options: Any) -> Any:
            began = time.perf_counter()
            try:
                return inner(*arguments, **options)
            finally:
                if threading.current_thread() is threading.main_thread():
                    spent[part] += time.perf_counter() - began
                    calls[part] += 1

        setattr(owner, name, timed)

    for part in ("plan", "begin", "finish", "record"):
        watch(Pipeline, part, part)
    watch(Waiting, "get", "idle")
    queue.SimpleQueue = Waiting  # type: ignore[misc]
    local = clusters.local

    @contextmanager
    def timed(workers: int) -> Iterator[Any]:
        began = time.perf_counter()
        with local(workers) as client:
            spent["start"] += time.perf_counter() - began
            yield client
            began = time.perf_counter()
        spent["start"] += time.perf_counter() - began

    clusters.local = timed
    sys.argv = ["dvc-parallel", "repro", "--workers", str(workers)]
    try:
        cli.main()
    finally:
        print(json.dumps(spent | {"writes": calls["record"]}))


def markdown(found: pd.DataFrame) -> str:
    """The records as a table."""
    cells = (
        ["" if pd.isna(cell) else f"{cell:g}" if isinstance(cell, float) else str(cell) for cell in record]
        for record in found.itertuples(index=False)
    )
    return "\n".join(table(COLUMNS, cells))


def _run(where: Path, environment: Mapping[str, str], *command: str) -> str:
    done = subprocess.run(command, cwd=where, env=environment, check=False, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"error: {' '.join(command)}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


if __name__ == "__main__":
    main()
