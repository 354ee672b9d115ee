"""Fit an adaptive temperature to each half of a block's trained models, for the other half."""

from vanishing_variance import registry, tasks
from vanishing_variance.arguments import block_of_variant
from vanishing_variance.command import run
from vanishing_variance.evaluation.fitting import Plan, fit_block
from vanishing_variance.io.files import write_json
from vanishing_variance.io.stored import read_weights
from vanishing_variance.io.yaml import read_yaml
from vanishing_variance.memory.enough import enough
from vanishing_variance.memory.temperature import temperature
from vanishing_variance.model.variant import Variant
from vanishing_variance.params.base import PATH, take
from vanishing_variance.params.experiment import Model
from vanishing_variance.params.ranges import Range
from vanishing_variance.params.seeds import Index, SeedsPerBlock
from vanishing_variance.params.temperature import Fit
from vanishing_variance.params.test import Lengths


def main() -> None:
    this = block_of_variant(__doc__)
    params = read_yaml(PATH)
    module = registry.load(tasks, this.task)
    task = take(params, f"tasks.{this.task}.data", module.TASK)
    training = take(params, f"tasks.{this.task}.training", module.TRAINING)
    take(params, f"ranges.{this.range}", Range)  # there must be such a range
    fit: Fit = take(params, "temperature", Fit)
    plan = Plan(
        name=str(this),
        root=take(params, "seed", Index),
        variant=Variant(this.task, this.norm, task, take(params, "model", Model)),
        lengths=take(params, "test.lengths", Lengths),
        sequences=fit.sequences,
    )
    stored, seeds = this.path("weights", ".safetensors"), take(params, "seeds_per_block", SeedsPerBlock)
    with enough(temperature(plan, training, seeds)):
        halves = fit_block(plan, read_weights(stored, plan.variant, training, seeds))
        fits = {name: {**vars(fitted), "mistakes": mistakes} for name, (fitted, mistakes) in halves.items()}
        write_json(this.path("temperature", ".json"), fits)


if __name__ == "__main__":
    run(main)
