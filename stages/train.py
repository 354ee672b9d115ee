"""Train one block of seeds of one variant, as an ensemble (Section 3, B.1, B.2)."""

from collections.abc import Mapping
from math import prod
from typing import Any

from vanishing_variance.engine.ensemble import train_block
from vanishing_variance.engine.plan import TrainingPlan
from vanishing_variance.engine.seeds import SeedsPerBlock, seeds
from vanishing_variance.harness.arguments import block_of_variant
from vanishing_variance.harness.arrays import write_arrays
from vanishing_variance.harness.frames import write_frame
from vanishing_variance.harness.memory import require_memory
from vanishing_variance.harness.paths import Run
from vanishing_variance.harness.script import run
from vanishing_variance.harness.sections import PATH, get_param
from vanishing_variance.harness.yaml import read_yaml


def main() -> None:
    this = block_of_variant(__doc__)
    train(read_yaml(PATH), this)


def train(params: Mapping[str, Any], this: Run) -> None:
    """Write the weights of one block of seeds, and its losses. Raises InputError and DivergedError."""
    plan = TrainingPlan.of(params, this)
    numbers = seeds(this.block, get_param(params, "seeds_per_block", SeedsPerBlock))
    grows_with = {
        "training.batch_size": plan.training.batch_size,
        "seeds_per_block": len(numbers),
        f"ranges.{this.range}.longest": plan.lengths.longest,
        "model.width": plan.variant.model.width,
    }
    require_memory(prod(grows_with.values()), grows_with)
    block = train_block(plan, numbers, this.folder("checkpoints"))
    for path in this.folder("trained").glob("*.safetensors"):  # of another training, where DVC has not cleared it
        path.unlink()
    write_arrays(this.weights, block.weights)
    for name, weights in block.others.items():
        write_arrays(this.folder("trained") / f"{name}.safetensors", weights)
    write_frame(this.losses, block.losses)


if __name__ == "__main__":
    run(main)
