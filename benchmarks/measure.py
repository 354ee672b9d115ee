"""One measurement in a process of its own, printed in milliseconds: `python -m benchmarks.measure WAY WORKLOAD`."""

import json
import sys
from collections.abc import Callable
from functools import partial

from benchmarks import ours, plain, vmap
from benchmarks.workload import Workload

WAYS: dict[tuple[str, str], Callable[[Workload], float]] = {
    ("train", "plain"): plain.train,
    ("train", "vmap"): vmap.train,
    ("train", "ours"): ours.train,
    ("train", "ours, nothing compiled"): partial(ours.train, compiled=False),
    ("evaluate", "plain"): plain.evaluate,
    ("evaluate", "vmap"): vmap.evaluate,
    ("evaluate", "ours"): ours.evaluate,
}


def main() -> None:
    way, work = sys.argv[1], Workload(**json.loads(sys.argv[2]))
    print(WAYS[work.kind, way](work))


if __name__ == "__main__":
    main()
