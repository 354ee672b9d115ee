"""Train one block of seeds of one variant: the paper's network as an ensemble (Section 3, B.1, B.2), or another."""

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from vanishing_variance.engine.block import TrainedBlock, train_block
from vanishing_variance.engine.plan import TrainingPlan
from vanishing_variance.engine.registry import why_plain
from vanishing_variance.engine.run import Run, block_of_variant
from vanishing_variance.engine.seeds import SeedsPerBlock, seeds
from vanishing_variance.harness.arrays import write_arrays
from vanishing_variance.harness.frames import write_frame
from vanishing_variance.harness.memory import require_memory
from vanishing_variance.harness.paths import NETWORK
from vanishing_variance.harness.script import run_script
from vanishing_variance.harness.sections import PATH, get_param
from vanishing_variance.harness.yaml import read_yaml


def main() -> None:
    this = block_of_variant(__doc__)
    train({**read_yaml(PATH), **read_yaml(NETWORK)}, this)


def train(params: Mapping[str, Any], this: Run) -> None:
    """Write the weights of one block of seeds, and its losses. Raises InputError and DivergedError."""
    numbers = seeds(this.block, get_param(params, "seeds_per_block", SeedsPerBlock))
    block = (train_paper if not why_plain(params, this.task) else train_network)(params, this, numbers)
    for path in this.folder("trained").glob("*.safetensors"):  # of another training, where DVC has not cleared it
        path.unlink()
    write_arrays(this.weights, block.weights)
    for name, weights in block.kept.items():
        write_arrays(this.folder("trained") / f"{name}.safetensors", weights)
    write_frame(this.losses, block.losses)


def train_paper(params: Mapping[str, Any], this: Run, numbers: Sequence[int]) -> TrainedBlock:
    """Return a trained block of the paper's network, by the fast engine."""
    plan = TrainingPlan.of(params, this)
    grows_with = {
        "training.batch_size": plan.training.batch_size,
        "seeds_per_block": len(numbers),
        f"ranges.{this.range}.longest": plan.lengths.longest,
        "model.width": plan.variant.model.width,
    }
    require_memory(prod(grows_with.values()), grows_with)
    return train_block(plan, numbers, this.folder("checkpoints"))


def train_network(params: Mapping[str, Any], this: Run, numbers: Sequence[int]) -> TrainedBlock:
    """Return a trained block of another network, or on a task that the fast engine does not take, by the plain one."""
    # Here, so that the paper's network does not depend on it; runs/choices and plans of lines have its hashes.
    from vanishing_variance.plain import training  # noqa: PLC0415
    from vanishing_variance.plain.plan import PlainPlan  # noqa: PLC0415

    plan = PlainPlan.of(params, this, params["network"], params.get("network_options"))
    return training.train_block(plan, numbers, this.folder("checkpoints"))


if __name__ == "__main__":
    run_script(main)
