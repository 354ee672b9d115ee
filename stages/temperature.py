"""Fit an adaptive temperature to each half of a block's trained models, for the other half."""

from vanishing_variance.engine.ranges import Range
from vanishing_variance.engine.seeds import Index, SeedsPerBlock
from vanishing_variance.engine.variant import Variant, task_training
from vanishing_variance.harness.arguments import block_of_variant
from vanishing_variance.harness.frames import write_frame
from vanishing_variance.harness.memory import require_memory
from vanishing_variance.harness.script import run
from vanishing_variance.harness.sections import PATH, Lengths, get_param
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.measure.evaluation.config import Fit
from vanishing_variance.measure.evaluation.fit import FitPlan, fit_block
from vanishing_variance.measure.evaluation.fit_memory import memory_needed
from vanishing_variance.measure.inference.stored import read_weights
from vanishing_variance.measure.inference.temperature import frame


def main() -> None:
    this = block_of_variant(__doc__)
    params = read_yaml(PATH)
    training = task_training(params, this.task)
    get_param(params, f"ranges.{this.range}", Range)  # there must be such a range
    fit: Fit = get_param(params, "temperature", Fit)
    plan = FitPlan(
        name=str(this),
        root_seed=get_param(params, "seed", Index),
        variant=Variant.of(params, this.task, this.norm),
        lengths=get_param(params, "test.lengths", Lengths),
        sequences=fit.sequences,
    )
    seeds = get_param(params, "seeds_per_block", SeedsPerBlock)
    with require_memory(memory_needed(plan, training, seeds)):
        fits = fit_block(plan, read_weights(this.weights, plan.variant, training, seeds))
        write_frame(this.temperatures, frame(fits))


if __name__ == "__main__":
    run(main)
