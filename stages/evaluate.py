"""Test one block of trained models at every length, and look inside (Tables 1 to 6, Figures 2 to 4)."""

from functools import partial

from vanishing_variance import checkpoints, paths, registry, tasks
from vanishing_variance.command import run, variant
from vanishing_variance.evaluation import Plan, evaluate_block
from vanishing_variance.io.arrays import read_arrays, read_parts, write_arrays
from vanishing_variance.io.files import read_json
from vanishing_variance.io.frames import write_frame
from vanishing_variance.io.yaml import read_yaml
from vanishing_variance.model.temperature import Temperature
from vanishing_variance.model.variant import Variant
from vanishing_variance.params.base import PATH, take
from vanishing_variance.params.diagnostics import Diagnostics
from vanishing_variance.params.experiment import Model
from vanishing_variance.params.ranges import Range
from vanishing_variance.params.seeds import seeds
from vanishing_variance.params.test import Lengths


def main() -> None:
    chosen = variant(__doc__)
    this = paths.Run(chosen.task, chosen.range, chosen.norm, chosen.block)
    params = read_yaml(PATH)
    task = take(params, f"tasks.{this.task}.data", registry.load(tasks, this.task).TASK)
    fitted = read_json(paths.temperature(this))
    plan = Plan(
        name=str(this),
        root=take(params, "seed", int),
        variant=Variant(this.task, this.norm, task, take(params, "model", Model)),
        lengths=take(params, "test.lengths", Lengths),
        range_name=this.range,
        trained=take(params, f"ranges.{this.range}", Range),
        diagnostics=take(params, "diagnostics", Diagnostics),
        fitted=Temperature(tuple(fitted["polynomial"]), fitted["lowest"], fitted["highest"]),
    )
    checkpoints.clear(this.path("checkpoints"))  # what is evaluated has been recorded by DVC
    weights = read_arrays(this.path("weights", ".safetensors"))
    sequences = {length: partial(read_parts, paths.sequences(this.task, length)) for length in plan.lengths}
    block = seeds(this.block, take(params, "seeds_per_block", int))
    done = evaluate_block(plan, weights, block, sequences)
    write_arrays(this.path("answers", ".safetensors"), done.right)
    write_frame(this.path("accuracy", ".parquet"), done.accuracy)
    write_frame(this.path("mechanism", ".parquet"), done.mechanism)
    for name, frame in done.first.items():
        write_frame(this.path("diagnostics") / f"{name}.parquet", frame)


if __name__ == "__main__":
    run(main)
