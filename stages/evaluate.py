"""Fit the adaptive temperature of one block of trained models, test them at every length, and look inside."""

from collections.abc import Mapping
from math import prod
from typing import Any

from vanishing_variance.engine.ranges import Range
from vanishing_variance.engine.seeds import Index, SeedsPerBlock, seeds
from vanishing_variance.engine.variant import Variant, task_training
from vanishing_variance.harness.arguments import block_of_variant
from vanishing_variance.harness.arrays import write_arrays
from vanishing_variance.harness.frames import write_frame
from vanishing_variance.harness.memory import require_memory
from vanishing_variance.harness.paths import Run
from vanishing_variance.harness.script import run
from vanishing_variance.harness.sections import PATH, get_param
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.measure.evaluation.block import EvaluationPlan, evaluate_block
from vanishing_variance.measure.evaluation.config import Diagnostics, Fit
from vanishing_variance.measure.evaluation.fit import FitPlan, fit_block
from vanishing_variance.measure.held_out import Test
from vanishing_variance.measure.inference.stored import open_sequences, read_block, remove_finished_checkpoints


def main() -> None:
    this = block_of_variant(__doc__)
    evaluate(read_yaml(PATH), this)


def evaluate(params: Mapping[str, Any], this: Run) -> None:
    """Write what one block of trained models answers, and what is measured inside them. Raises InputError."""
    variant = Variant.of(params, this.task, this.norm, this.attention)
    training = task_training(params, this.task)
    block = seeds(this.block, get_param(params, "seeds_per_block", SeedsPerBlock))
    root_seed: int = get_param(params, "seed", Index)
    training_lengths: Range = get_param(params, f"ranges.{this.range}", Range)
    diagnostics: Diagnostics = get_param(params, "diagnostics", Diagnostics)
    temperature: Fit = get_param(params, "temperature", Fit)
    test: Test = get_param(params, "test", Test)

    grows_with = {"test.lengths": test.lengths[-1], "model.width": variant.model.width}
    require_memory(prod(grows_with.values()), grows_with)
    weights, others = read_block(this, variant, training, len(block))
    # weights that are evaluated have been recorded by DVC, and are whole
    remove_finished_checkpoints(this.folder("checkpoints"), weights)
    fitted = {}
    if variant.network().rescaled:
        fitted = fit_block(FitPlan(str(this), root_seed, variant, test.lengths, temperature.sequences), weights)
    plan = EvaluationPlan(
        name=str(this),
        root_seed=root_seed,
        variant=variant,
        lengths=test.lengths,
        range_name=this.range,
        training_lengths=training_lengths,
        diagnostics=diagnostics,
        fitted=fitted,
    )
    sequences = open_sequences(this.task, test.lengths)
    done = evaluate_block(plan, weights, others, block, sequences)

    folder = this.folder("evaluated")
    answers = {f"{rule}-{length}": correct for (rule, length), correct in done.correct.items()}
    write_arrays(folder / "answers.safetensors", answers)
    for name, frame in done.frames.items():
        write_frame(folder / f"{name}.parquet", frame)


if __name__ == "__main__":
    run(main)
