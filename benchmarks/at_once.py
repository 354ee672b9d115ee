"""All stages from nothing at the scale of params.yaml, by `dvc repro` and by `dvc-parallel repro`, in one run.

`python -m benchmarks.at_once FOLDER [WORKERS]`: about an hour at the default scale on 2 cores. Both run in clones of
this checkout's HEAD, which stay in FOLDER, with caches of their own. Beside them the bound that no schedule can beat,
here and on paper for others.
"""

import json
import math
import os
import re
import resource
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import TypedDict

import yaml

from benchmarks.amdahl import Stage, bound, measured, on_gpus
from dvc_parallel.pipeline import Pipeline
from vanishing_variance.harness.files import write_json
from vanishing_variance.report.machine import machine
from vanishing_variance.work import noted

RESULTS = Path(__file__).resolve().with_suffix(".json")
CORES = (1, 2, 8, 64)
GPU = ("train", "temperature", "evaluate")


class Took(TypedDict):
    """Wall and CPU seconds."""

    seconds: float
    cpu: float


def main() -> None:
    folder, workers = Path(sys.argv[1]).resolve(), sys.argv[2] if sys.argv[2:] else str(os.cpu_count())
    ways = {"serial": ["dvc", "repro"], "at once": ["dvc_parallel", "repro", "--workers", workers]}
    whole, stages, clones = {}, {}, {way: folder / way.replace(" ", "-") for way in ways}
    for way, command in ways.items():
        subprocess.run(["git", "clone", "--quiet", ".", str(clones[way])], check=True)
        whole[way], stages[way] = _run(clones[way], command)
        print(f"{way}: {whole[way]['seconds']:.0f} s, {whole[way]['cpu']:.0f} s of CPU", flush=True)
    serial, at_once = ((clone / "dvc.lock").read_bytes() for clone in clones.values())
    print("dvc.lock is the same" if serial == at_once else "dvc.lock DIFFERS", flush=True)
    models, upstream = _stages(clones["serial"], clones["at once"], stages["at once"])
    bounds = {f"{cores} cores": bound(models, upstream, cores) for cores in CORES}
    # On paper: a block on a GPU takes as long as on the two cores here, and what wants none has these two to itself.
    bounds["4 GPUs"] = on_gpus(models, upstream, [name for name in models if name.startswith(GPU)], 4)
    for name, seconds in bounds.items():
        print(f"{name}: at best {seconds:.0f} s")
    write_json(RESULTS, {**machine(), "workers": int(workers), "bounds": bounds, "ways": whole, "stages": stages})


def _run(clone: Path, command: list[str]) -> tuple[Took, dict[str, Took]]:
    """Of a command, and of each stage where it says so."""
    own = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(clone / "src")}
    began, before = time.perf_counter(), _cpu()
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=clone,
        env=os.environ | own,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    whole: Took = {"seconds": time.perf_counter() - began, "cpu": _cpu() - before}
    printed = done.stdout.decode()
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit code {done.returncode}\n{printed[-2000:]}")
    took = re.findall(r"^Stage '(.+)' took ([\d.]+) s, ([\d.]+) s of CPU$", printed, re.MULTILINE)
    stages: dict[str, Took] = {name: {"seconds": float(wall), "cpu": float(cpu)} for name, wall, cpu in took}
    return whole, stages


def _cpu() -> float:
    """Of the processes that this one has waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _stages(serial: Path, at_once: Path, took: Mapping[str, Took]) -> tuple[dict[str, Stage], dict[str, list[str]]]:
    """The stages, and what each waits for.

    On one core a stage takes its CPU time when all ran at once; on two what it took serially, where its start and its
    imports, which it does not time itself, took as long.
    """
    os.chdir(serial)
    params = yaml.safe_load(Path("params.yaml").read_text(encoding="utf-8"))
    chunks = math.ceil(params["seeds_per_block"] / params["training"]["seeds_per_process"])
    pipeline, stages = Pipeline(serial), {}
    upstream = pipeline.plan([], downstream=False)
    for name in upstream:
        command = pipeline.command(name)
        note = f"runs/times/{noted(command.lines)}.json"
        alone, beside = (json.loads((clone / note).read_text())["seconds"] for clone in (serial, at_once))
        processes = min(command.processes, chunks) if name.startswith("train") else command.processes
        start = max(took[name]["seconds"] - beside, 0.0)
        stages[name] = measured(took[name]["cpu"], alone + start, processes)
    return stages, upstream


if __name__ == "__main__":
    main()
