"""The parts of the time of a training step, on one core: `python -m benchmarks.breakdown TASK LONGEST [uncompiled]`."""

import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from torch.profiler import profile

from benchmarks import ours
from benchmarks.workload import Workload
from vanishing_variance.engine import checkpoints
from vanishing_variance.engine import loop as training
from vanishing_variance.harness import parallel
from vanishing_variance.harness.arrays import read_arrays

SEEDS = [0, 1, 2, 3]
STEPS = 200

# What torch's profiler calls the parts of a step; everything that is not named here is "other".
PARTS = {
    "matrix products": ("aten::bmm", "aten::baddbmm", "aten::mm"),
    "linear layers beside their products: GELU, compiled products": ("_Linear",),
    "items: GELU, logits, softmax, average": ("_Attend", "aten::vecdot", "aten::linalg_vecdot", "aten::one_hot"),
    "Adam, where torch steps": ("aten::_fused_adamw_", "Optimizer."),
    "keys and queries looked up": ("_Keys", "aten::embedding", "aten::index_select", "aten::index_add_"),
}


def main() -> None:
    task, longest, uncompiled = sys.argv[1], int(sys.argv[2]), sys.argv[3:] == ["uncompiled"]
    parallel.single_threaded()
    if uncompiled:
        ours.compile_nothing()
    work = Workload("train", task, longest, len(SEEDS), STEPS)
    plan, weights = work.plan(), work.weights(SEEDS)
    training.train(plan, weights, SEEDS)
    started = time.perf_counter()
    training.train(plan, weights, SEEDS)
    whole = (time.perf_counter() - started) / STEPS / len(SEEDS) * 1e3
    with profile() as watched:
        training.train(plan, weights, SEEDS)
    spent = {event.key: event.self_cpu_time_total / STEPS / len(SEEDS) / 1e3 for event in watched.key_averages()}
    print(f"{task}, lengths 5 to {longest}, {len(SEEDS)} seeds on one core, {torch.__version__}: ms a step and seed")
    left = dict(spent)
    for part, names in PARTS.items():
        of = {key: left.pop(key) for key in list(left) if key.startswith(names)}
        print(f"{sum(of.values()):7.3f}  {part}")
    print(f"{sum(left.values()):7.3f}  other operations of torch and autograd")
    for key, value in sorted(left.items(), key=lambda pair: -pair[1])[:8]:
        print(f"           {value:7.3f}  {key}")
    print(
        f"{whole:7.3f}  a whole step, without the profiler; what is not above is Python, drawing data and Adam by rows"
    )
    with TemporaryDirectory() as folder:
        kept = Path(folder) / "checkpoint.safetensors"
        training.train(plan, weights, SEEDS, kept=kept)
        arrays, started = read_arrays(kept), time.perf_counter()
        checkpoints.save(kept, arrays, STEPS, STEPS)
        seconds, size = time.perf_counter() - started, kept.stat().st_size / 2**20
    share = seconds / checkpoints.SECONDS_BETWEEN
    print(f"{seconds * 1e3:7.0f}  ms for a checkpoint of {size:.0f} MiB: {share:.1%} of the time between two")


if __name__ == "__main__":
    main()
