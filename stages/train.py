"""Train one block of seeds of one variant, as an ensemble (Section 3, B.1, B.2)."""

from vanishing_variance import registry, tasks
from vanishing_variance.arguments import block_of_variant
from vanishing_variance.command import run
from vanishing_variance.io.arrays import write_arrays
from vanishing_variance.io.frames import write_frame
from vanishing_variance.io.yaml import read_yaml
from vanishing_variance.memory.enough import enough
from vanishing_variance.memory.train import train
from vanishing_variance.model.variant import Variant
from vanishing_variance.params.base import PATH, take
from vanishing_variance.params.experiment import Model, Training
from vanishing_variance.params.ranges import Range
from vanishing_variance.params.seeds import Index, SeedsPerBlock, seeds
from vanishing_variance.tasks.base import TaskTraining
from vanishing_variance.training import Plan, train_block


def main() -> None:
    this = block_of_variant(__doc__)
    module = registry.load(tasks, this.task)
    params = read_yaml(PATH)
    lengths: Range = take(params, f"ranges.{this.range}", Range)
    task = take(params, f"tasks.{this.task}.data", module.TASK)
    schedule: TaskTraining = take(params, f"tasks.{this.task}.training", module.TRAINING)
    if lengths.steps is not None:
        schedule = schedule.model_copy(update={"steps": lengths.steps})
    plan = Plan(
        name=str(this),
        root=take(params, "seed", Index),
        range_name=this.range,
        lengths=lengths,
        variant=Variant(this.task, this.norm, task, take(params, "model", Model)),
        optimiser=take(params, "training", Training),
        schedule=schedule,
    )
    block = seeds(this.block, take(params, "seeds_per_block", SeedsPerBlock))
    with enough(train(plan, block)):
        weights, losses = train_block(plan, block, kept=this.path("checkpoints"))
        write_arrays(this.path("weights", ".safetensors"), weights)
        write_frame(this.path("losses", ".parquet"), losses)


if __name__ == "__main__":
    run(main)
