"""Test one block of trained models at every length, and look inside (Tables 1 to 6, Figures 2 to 4)."""

from vanishing_variance.engine.ranges import Range
from vanishing_variance.engine.seeds import Index, SeedsPerBlock, seeds
from vanishing_variance.engine.variant import Variant, task_training
from vanishing_variance.harness import paths
from vanishing_variance.harness.arguments import block_of_variant
from vanishing_variance.harness.arrays import write_arrays
from vanishing_variance.harness.frames import write_frame
from vanishing_variance.harness.memory import require_memory
from vanishing_variance.harness.script import run
from vanishing_variance.harness.sections import PATH, get_param
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.measure.evaluation.block import EvaluationPlan, evaluate_block
from vanishing_variance.measure.evaluation.config import Diagnostics
from vanishing_variance.measure.evaluation.memory import memory_needed
from vanishing_variance.measure.held_out import Test
from vanishing_variance.measure.inference.stored import (
    open_sequences,
    read_temperatures,
    read_weights,
    remove_finished_checkpoints,
)


def main() -> None:
    this = block_of_variant(__doc__)
    params = read_yaml(PATH)
    variant, training = Variant.of(params, this.task, this.norm), task_training(params, this.task)
    block = seeds(this.block, get_param(params, "seeds_per_block", SeedsPerBlock))
    test: Test = get_param(params, "test", Test)
    training_lengths: Range = get_param(params, f"ranges.{this.range}", Range)
    diagnostics: Diagnostics = get_param(params, "diagnostics", Diagnostics)
    root_seed: int = get_param(params, "seed", Index)
    temperatures, fits = read_temperatures(this.temperatures)
    plan = EvaluationPlan(
        name=str(this),
        root_seed=root_seed,
        variant=variant,
        lengths=test.lengths,
        range_name=this.range,
        training_lengths=training_lengths,
        diagnostics=diagnostics,
        fitted=temperatures,
    )
    with require_memory(memory_needed(plan, training, len(block), test.sequences)):
        weights = read_weights(this.weights, plan.variant, training, len(block))
        sequences = {
            length: open_sequences(paths.sequences(this.task, length), variant.task, length) for length in test.lengths
        }
        # weights that are evaluated have been recorded by DVC, and are whole
        remove_finished_checkpoints(this.folder("checkpoints"), weights)
        done = evaluate_block(plan, weights, block, sequences)
        folder = this.folder("evaluated")
        arrays = {f"{temperature}-{length}": of for (temperature, length), of in done.correct.items()}
        write_arrays(folder / "answers.safetensors", arrays)
        for name, frame in {"temperatures": fits, **done.frames}.items():
            write_frame(folder / f"{name}.parquet", frame)


if __name__ == "__main__":
    run(main)
