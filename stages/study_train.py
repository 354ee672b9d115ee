"""Train the models of one line of a study on one task."""

import shutil
from collections.abc import Mapping
from typing import Any

from stages.train import train
from vanishing_variance.engine.seeds import seeds
from vanishing_variance.harness.arrays import write_arrays
from vanishing_variance.harness.errors import DivergedError
from vanishing_variance.harness.files import write_json
from vanishing_variance.harness.frames import write_frame
from vanishing_variance.harness.script import run
from vanishing_variance.studies.arguments import planned_line
from vanishing_variance.studies.plan import DIVERGED, LineRun


def main() -> None:
    plan, runs = planned_line(__doc__)
    train_line = train_network if "network" in plan else train
    for this in runs:
        (this.folder("trained") / DIVERGED).unlink(missing_ok=True)  # of another training, where DVC has not cleared it
        try:
            train_line(plan, this)
        except DivergedError as problem:  # a result, which the board shows
            write_json(this.folder("trained") / DIVERGED, {"said": str(problem)})


def train_network(plan: Mapping[str, Any], this: LineRun) -> None:
    """Train a block of seeds of a network by the plain engine. Raises InputError and DivergedError."""
    # Here, so that lines of the paper's network do not depend on it; the plans of the others have its hashes.
    from vanishing_variance.plain.block import train_block  # noqa: PLC0415
    from vanishing_variance.plain.plan import PlainPlan  # noqa: PLC0415

    numbers = seeds(this.block, plan["seeds_per_block"])
    training = PlainPlan.of(plan, this, plan["network"], plan["network_options"])
    block = train_block(training, numbers, this.folder("checkpoints"))
    for name, weights in {"weights": block.weights, **block.others}.items():
        write_arrays(this.folder("trained") / f"{name}.safetensors", weights)
    write_frame(this.losses, block.losses)
    shutil.rmtree(this.folder("checkpoints"), ignore_errors=True)


if __name__ == "__main__":
    run(main)
