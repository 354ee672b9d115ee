"""One measurement in a process of its own: `python -m benchmarks.measure WAY WORKLOAD`, as JSON on standard output."""

import json
import sys
from collections.abc import Callable

import torch

from benchmarks import floor, ours, plain, vmap
from benchmarks.clock import peak, resident
from benchmarks.workload import Workload
from vanishing_variance.engine.kernels import matmul

WAYS: dict[tuple[str, str], Callable[[Workload], float]] = {
    ("train", "plain"): plain.train,
    ("train", "vmap"): vmap.train,
    ("train", "ours"): ours.train,
    ("train", "ours, nothing compiled"): lambda work: ours.train(work, "plain torch"),
    ("train", "ours, torch.compile"): lambda work: ours.train(work, "torch.compile"),
    ("saturated", "plain"): plain.train,
    ("saturated", "ours"): ours.train,
    ("evaluate", "plain"): plain.evaluate,
    ("evaluate", "vmap"): vmap.evaluate,
    ("evaluate", "ours"): ours.evaluate,
    ("product", "plain"): lambda work: floor.product(torch.bmm),
    ("product", "matmul.c"): lambda work: floor.product(matmul.product),
    ("product", "OpenBLAS"): lambda work: floor.product(floor.openblas),
    ("copy", "plain"): lambda work: floor.copy(),
}


def main() -> None:
    way, work = sys.argv[1], Workload(**json.loads(sys.argv[2]))
    idle = resident()
    value = WAYS[work.kind, way](work)
    print(json.dumps({"value": value, "memory": peak() - idle}))


if __name__ == "__main__":
    main()
