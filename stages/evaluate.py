"""Test one block of trained models at every length, and look inside (Tables 1 to 6, Figures 2 to 4)."""

from pathlib import Path

from vanishing_variance import checkpoints, paths, registry, tasks
from vanishing_variance.arguments import block_of_variant
from vanishing_variance.command import run
from vanishing_variance.evaluation.block import Plan, evaluate_block
from vanishing_variance.evaluation.temperature import Temperature
from vanishing_variance.io.arrays import write_arrays
from vanishing_variance.io.documents import Fits, read_document
from vanishing_variance.io.frames import write_frame
from vanishing_variance.io.stored import open_sequences, read_weights
from vanishing_variance.io.yaml import read_yaml
from vanishing_variance.memory.enough import enough
from vanishing_variance.memory.evaluate import evaluate
from vanishing_variance.model.variant import Variant
from vanishing_variance.params.base import PATH, take
from vanishing_variance.params.diagnostics import Diagnostics
from vanishing_variance.params.experiment import Model
from vanishing_variance.params.ranges import Range
from vanishing_variance.params.seeds import Index, SeedsPerBlock, seeds
from vanishing_variance.params.test import Test


def fitted(path: Path) -> dict[str, Temperature]:
    """Return the temperature with which each half of the block is tested."""
    return {
        half: Temperature(tuple(fit["polynomial"]), fit["lowest"], fit["highest"])
        for half, fit in read_document(path, Fits).items()
    }


def main() -> None:
    this = block_of_variant(__doc__)
    params = read_yaml(PATH)
    module = registry.load(tasks, this.task)
    task = take(params, f"tasks.{this.task}.data", module.TASK)
    training = take(params, f"tasks.{this.task}.training", module.TRAINING)
    block = seeds(this.block, take(params, "seeds_per_block", SeedsPerBlock))
    test: Test = take(params, "test", Test)
    plan = Plan(
        name=str(this),
        root=take(params, "seed", Index),
        variant=Variant(this.task, this.norm, task, take(params, "model", Model)),
        lengths=test.lengths,
        range_name=this.range,
        trained=take(params, f"ranges.{this.range}", Range),
        diagnostics=take(params, "diagnostics", Diagnostics),
        fitted=fitted(this.path("temperature", ".json")),
    )
    with enough(evaluate(plan, training, len(block), test.sequences)):
        weights = read_weights(this.path("weights", ".safetensors"), plan.variant, training, len(block))
        sequences = {
            length: open_sequences(paths.sequences(this.task, length), task, length) for length in test.lengths
        }
        checkpoints.clear(this.path("checkpoints"))  # what is evaluated has been recorded by DVC, and is whole
        done = evaluate_block(plan, weights, block, sequences)
        write_arrays(this.path("answers", ".safetensors"), done.right)
        write_frame(this.path("accuracy", ".parquet"), done.accuracy)
        write_frame(this.path("mechanism", ".parquet"), done.mechanism)
        for name, frame in done.first.items():
            write_frame(this.path("diagnostics") / f"{name}.parquet", frame)


if __name__ == "__main__":
    run(main)
