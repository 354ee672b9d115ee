"""Set one thing inside every model, leave the rest, and see what accuracy it is worth: raw, as shares, as a figure."""

import pandas as pd

from vanishing_variance import registry, tasks
from vanishing_variance.command import Arguments, run
from vanishing_variance.figures.interventions import draw
from vanishing_variance.interventions.config import Interventions
from vanishing_variance.interventions.measurement import Group, intervene
from vanishing_variance.interventions.memory import interventions
from vanishing_variance.interventions.readings import read_out
from vanishing_variance.interventions.shares import gain, shares
from vanishing_variance.interventions.table import markdown
from vanishing_variance.io.files import write_text
from vanishing_variance.io.frames import write_csv
from vanishing_variance.io.images import write_figure
from vanishing_variance.io.stored import open_sequences, read_weights
from vanishing_variance.io.yaml import read_yaml
from vanishing_variance.memory.enough import enough
from vanishing_variance.model.variant import Variant
from vanishing_variance.params.base import PATH, take
from vanishing_variance.params.experiment import Model
from vanishing_variance.params.norm import Norm
from vanishing_variance.params.ranges import Range
from vanishing_variance.params.seeds import Blocks, Index, SeedsPerBlock, seeds
from vanishing_variance.params.test import Test
from vanishing_variance.paths import Run, sequences
from vanishing_variance.study import METRICS, PLOTS, RANGES, TASKS, trained


def main() -> None:
    Arguments(description=__doc__).parse_args()
    params = read_yaml(PATH)
    test: Test = take(params, "test", Test)
    how: Interventions = take(params, "interventions", Interventions)
    model, norm, root = take(params, "model", Model), take(params, "norm", Norm), take(params, "seed", Index)
    size, blocks = take(params, "seeds_per_block", SeedsPerBlock), take(params, "blocks", Blocks)
    data = {task: take(params, f"tasks.{task}.data", registry.load(tasks, task).TASK) for task in TASKS}
    training = {task: take(params, f"tasks.{task}.training", registry.load(tasks, task).TRAINING) for task in TASKS}
    ranges: dict[str, Range] = {name: take(params, f"ranges.{name}", Range) for name in RANGES}

    def group(task: str, name: str, block: int) -> Group:
        variants = {one: Variant(task, one, data[task], model) for one in trained(name, norm)}
        paths = {one: Run(task, name, one, block).path("weights", ".safetensors") for one in variants}
        weights = {one: read_weights(paths[one], variants[one], training[task], size) for one in variants}
        tested = {length: open_sequences(sequences(task, length), data[task], length) for length in test.lengths}
        return Group(name, ranges[name], variants, weights, tested)

    every = [
        (Variant(task, one, data[task], model), training[task]) for task in TASKS for one in trained("short", norm)
    ]
    with enough(interventions(every, [*ranges.values()], test, how, size)):
        found = [
            intervene([group(task, name, block) for task in TASKS for name in RANGES], seeds(block, size), how, root)
            for block in blocks
        ]
        accuracy, counts = (pd.concat(frames, ignore_index=True) for frames in zip(*found, strict=True))
    of_loss = shares(accuracy, {name: one.longest for name, one in ranges.items()})
    pairs = [(task, name, norm if name == "long" else "ln") for task in TASKS for name in RANGES]
    gains = {pair: parts for pair in pairs if (parts := gain(accuracy, *pair, ranges[pair[1]].longest))}
    read = read_out(counts)
    write_csv(METRICS / "interventions.csv", accuracy)
    write_csv(METRICS / "interventions-shares.csv", of_loss)
    write_csv(METRICS / "interventions-read-out.csv", read)
    write_text(METRICS / "interventions.md", markdown(of_loss, gains, read))
    write_figure(PLOTS / "interventions", draw(of_loss))


if __name__ == "__main__":
    run(main)
