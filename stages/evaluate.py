"""Test one block of trained models at every length, and look inside."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import prod
from typing import Any

import numpy as np
import pandas as pd

from vanishing_variance.engine.ranges import Range
from vanishing_variance.engine.registry import why_plain
from vanishing_variance.engine.run import Run, block_of_variant
from vanishing_variance.engine.seeds import Index, SeedsPerBlock, seeds
from vanishing_variance.engine.variant import Variant
from vanishing_variance.harness.arrays import read_arrays, write_arrays
from vanishing_variance.harness.frames import write_frame
from vanishing_variance.harness.memory import require_memory
from vanishing_variance.harness.paths import NETWORK
from vanishing_variance.harness.script import run_script
from vanishing_variance.harness.sections import PATH, get_param
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.measure.evaluation.config import Diagnostics
from vanishing_variance.measure.evaluation.fast_models import Answers, EvaluationPlan, accuracies, evaluate_block
from vanishing_variance.measure.held_out import Test
from vanishing_variance.measure.inference.models import CORRECT
from vanishing_variance.measure.inference.sequences import Read
from vanishing_variance.measure.inference.stored import open_sequences, remove_finished_checkpoints, weight_files

ReadOfLengths = Callable[[Sequence[int]], Mapping[int, Read]]
Evaluated = tuple[Answers, dict[str, pd.DataFrame]]


def main() -> None:
    this = block_of_variant(__doc__)
    params = {**read_yaml(PATH), **read_yaml(NETWORK)}
    answers, frames = evaluated(params, this, partial(open_sequences, this.task))
    folder = this.folder("evaluated")
    correct = {f"{rule}-{length}": marks == CORRECT for (rule, length), marks in answers.items()}
    write_arrays(folder / "answers.safetensors", correct)
    if not frames["accuracy"]["no_answer"].any():
        frames["accuracy"] = frames["accuracy"].drop(columns="no_answer")
    for name, measured in frames.items():
        write_frame(folder / f"{name}.parquet", measured)


def evaluated(params: Mapping[str, Any], this: Run, sequences_of: ReadOfLengths) -> Evaluated:
    """Return what one block of models answers, and what is measured inside them. Raises InputError.

    `sequences_of`: opens the test sequences of some lengths.
    """
    block = seeds(this.block, get_param(params, "seeds_per_block", SeedsPerBlock))
    fast = not why_plain(params, this.task)
    found = evaluate_paper(params, this, block, sequences_of) if fast else evaluate_network(params, this, block)
    # weights that are evaluated have been recorded by DVC, and are whole
    remove_finished_checkpoints(this.folder("checkpoints"), read_arrays(this.weights))
    return found


def evaluate_paper(
    params: Mapping[str, Any], this: Run, block: Sequence[int], sequences_of: ReadOfLengths
) -> Evaluated:
    """Return the evaluation of a block of the paper's network, of the fast engine."""
    variant = Variant.of(params, this.task, this.norm, this.attention)
    root_seed: int = get_param(params, "seed", Index)
    training_lengths: Range = get_param(params, f"ranges.{this.range}", Range)
    diagnostics: Diagnostics = get_param(params, "diagnostics", Diagnostics)
    test: Test = get_param(params, "test", Test)

    grows_with = {"test.lengths": test.lengths[-1], "model.width": variant.model.width}
    require_memory(prod(grows_with.values()), grows_with)
    weights = weights_by_rule(this)
    plan = EvaluationPlan(
        name=str(this),
        root_seed=root_seed,
        variant=variant,
        range_name=this.range,
        training_lengths=training_lengths,
        diagnostics=diagnostics,
    )
    return evaluate_block(plan, weights, block, sequences_of(test.lengths))


def evaluate_network(params: Mapping[str, Any], this: Run, block: Sequence[int]) -> Evaluated:
    """Return the evaluation of a block of another network: answers and, where it has a method `inside`, its inside."""
    # Here, as in stages.train.
    from vanishing_variance.measure.plain_models.answers import plain_answers  # noqa: PLC0415
    from vanishing_variance.measure.plain_models.inside import INSIDE, has_inside, plain_inside  # noqa: PLC0415
    from vanishing_variance.plain.plan import PlainPlan  # noqa: PLC0415

    plan = PlainPlan.of(params, this, params["network"], params.get("network_options"))
    test: Test = get_param(params, "test", Test)
    weights = weights_by_rule(this)
    answers = plain_answers(plan, block, weights, test.lengths, test.sequences)
    frames = {"accuracy": accuracies(plan.name, answers, block)}
    if has_inside(plan):
        sequences = min(INSIDE, test.sequences)
        frames["inside"] = plain_inside(plan, block, weights["last"], test.lengths, sequences)
    return answers, frames


def weights_by_rule(this: Run) -> dict[str, dict[str, np.ndarray]]:
    """Return the last weights of a trained block as `last`, and by name those that its training kept beside them."""
    return {rule: read_arrays(path) for rule, path in weight_files(this).items()}


if __name__ == "__main__":
    run_script(main)
