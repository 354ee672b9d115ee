"""Train one run: a block of seeds of a line of a study on a task (Section 3, B.1, B.2)."""

from collections.abc import Mapping
from typing import Any

from vanishing_variance import engines
from vanishing_variance.engine.run import Run
from vanishing_variance.engine.seeds import seeds
from vanishing_variance.harness.arrays import write_arrays
from vanishing_variance.harness.errors import DivergedError
from vanishing_variance.harness.files import write_json
from vanishing_variance.harness.frames import write_frame
from vanishing_variance.harness.script import run_script
from vanishing_variance.studies.arguments import planned_run, require_as_planned
from vanishing_variance.studies.files import DIVERGED


def main() -> None:
    planned, key = planned_run(__doc__)
    this = planned.run(key)
    diverged = this.folder("trained") / DIVERGED
    diverged.unlink(missing_ok=True)  # of another training, where DVC has not cleared it
    try:
        train(planned.params(key, "train"), this)
    except DivergedError as problem:
        if not this.study:
            raise
        write_json(diverged, {"said": str(problem)})  # a result, which the board shows
    require_as_planned(planned, key, "train")


def train(params: Mapping[str, Any], this: Run) -> None:
    """Write the weights of a run, and its losses. Raises InputError and DivergedError."""
    block = engines.train(
        engines.plan_of(params, this), seeds(this.block, params["seeds_per_block"]), this.folder("checkpoints")
    )  # fmt: skip
    for path in this.folder("trained").glob("*.safetensors"):  # of another training, where DVC has not cleared it
        path.unlink()
    write_arrays(this.weights, block.weights)
    for name, weights in block.kept.items():
        write_arrays(this.folder("trained") / f"{name}.safetensors", weights)
    write_frame(this.losses, block.losses)


if __name__ == "__main__":
    run_script(main)
