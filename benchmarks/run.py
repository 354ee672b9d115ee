"""`make bench`: every way of doing the same work, in turn, in one run on the machine at hand.

Each measurement is a process of its own, so that none sees another's threads, memory or caches. The rounds go through
all of them; a value is the median of its rounds. Writes `benchmarks/results/<device>.json` and prints it as a table.
"""

import argparse
import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import product
from statistics import median
from typing import Any

import pandas as pd

from benchmarks import ROOT
from benchmarks.machine import machine
from benchmarks.workload import Workload
from vanishing_variance.engine.device import device
from vanishing_variance.harness.files import write_json

RESULTS = ROOT / "benchmarks/results"
UNITS = {"train": "ms a step and seed", "evaluate": "ms a sequence and model"}
SHORT, LONG = 16, 256
LENGTHS = (2**10, 2**14, 2**17, 2**20)
# What vmap would hold at once above this length does not fit in 24 GiB, and the dictionary has no longer sequences.
LONGEST_VMAP = 2**14


@dataclass(frozen=True)
class Measurement:
    """One row of the table: a way of doing some work."""

    benchmark: str
    way: str
    work: Workload


def trainings() -> Iterator[Measurement]:
    many = 8 if device().type == "cpu" else 100
    for task, length, seeds in product(("argmax", "dictionary"), (SHORT, LONG), (1, many)):
        ways = ["plain", "vmap", "ours"]
        if seeds == many:
            ways.append("ours, nothing compiled")
        for way in ways:
            work = Workload("train", task, length, seeds, _steps(way, length))
            yield Measurement(f"train {task}, lengths 5 to {length}", way, work)


def evaluations() -> Iterator[Measurement]:
    for task, length, seeds, way in product(("argmax", "dictionary"), LENGTHS, (1, 8), ("plain", "vmap", "ours")):
        too_long = length > LONGEST_VMAP and (way == "vmap" or task == "dictionary")
        if not too_long:
            work = Workload("evaluate", task, length, seeds, max(1, 2**18 // length))
            yield Measurement(f"evaluate {task}, length {length}", way, work)


def _steps(way: str, length: int) -> int:
    """Enough steps for every length of a short range, and a fair sample of a long one's."""
    if way.startswith("ours"):
        return {SHORT: 600, LONG: 300}[length]
    return {SHORT: 12, LONG: 8}[length]


def measure(what: Measurement) -> list[float]:
    """Return the one value, in milliseconds; none where it failed (out of memory, say)."""
    command = [sys.executable, "-m", "benchmarks.measure", what.way, json.dumps(asdict(what.work))]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True, text=True)
    if done.returncode:
        last = (done.stderr.strip() or "killed").splitlines()[-1]
        print(f"{what.benchmark}, {what.way}, {what.work.seeds} seeds: failed: {last}", file=sys.stderr)
        return []
    return [float(done.stdout.splitlines()[-1])]


def records(found: dict[Measurement, list[float]]) -> list[dict[str, Any]]:
    """Return medians over the rounds, each with how many times slower the plain way is."""
    medians = {what: median(values) for what, values in found.items() if values}
    plain = {(what.benchmark, what.work.seeds): value for what, value in medians.items() if what.way == "plain"}
    rows = []
    for what, value in medians.items():
        reference = plain.get((what.benchmark, what.work.seeds))
        row = {
            "benchmark": what.benchmark,
            "way": what.way,
            "seeds": what.work.seeds,
            "value": float(f"{value:.4g}"),
            "unit": UNITS[what.work.kind],
            "ratio_to_plain": float(f"{reference / value:.3g}") if reference else None,
        }
        rows.append(row)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="measure benchmarks whose name contains this, and write nothing")
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    wanted = [what for what in [*trainings(), *evaluations()] if chosen.only in what.benchmark]
    found: dict[Measurement, list[float]] = defaultdict(list)
    document = {**machine(), "rounds": chosen.rounds}  # the revision that is measured, not what it is at the end
    for number in range(chosen.rounds):
        for done, what in enumerate(wanted, start=1):
            result = measure(what)
            found[what] += result
            value = f"{result[0]:.4g}" if result else "failed"
            place = f"{number + 1}.{done}/{len(wanted)}"
            print(f"{place} {what.benchmark}, {what.way}, {what.work.seeds}: {value}", file=sys.stderr)
    document["records"] = records(found)
    print(pd.DataFrame(document["records"]).to_markdown(index=False))
    if not chosen.only:
        slug = "-".join("".join(c if c.isalnum() else " " for c in document["device"].lower()).split())
        write_json(RESULTS / f"{slug}-{document['cores']}-cores.json", document)


if __name__ == "__main__":
    main()
