"""Set one thing inside every trained model and leave the rest: accuracies by seed, a row an intervention.

And write a trained ln model of each task as a std model, and count where the two answer otherwise (Section 3.2). Both
of the paper's network alone: of another one there are no rows.
"""

import pandas as pd

from vanishing_variance.engine.config import Norm
from vanishing_variance.engine.ranges import Range, ranges_of
from vanishing_variance.engine.seeds import Blocks, Index, SeedsPerBlock, seeds
from vanishing_variance.engine.variant import Variant, task_training
from vanishing_variance.harness.files import write_json
from vanishing_variance.harness.frames import write_frame
from vanishing_variance.harness.paths import CAPACITY, INTERVENTIONS, NETWORK, PAPER, Run
from vanishing_variance.harness.script import Arguments, run
from vanishing_variance.harness.sections import PATH, get_param
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.measure.held_out import Test
from vanishing_variance.measure.inference.stored import open_sequences, read_weights
from vanishing_variance.measure.interventions import as_std
from vanishing_variance.measure.interventions.config import Interventions
from vanishing_variance.measure.interventions.measurement import COLUMNS, Group, intervene
from vanishing_variance.results.runs import TASKS, trained


def main() -> None:
    Arguments(description=__doc__).parse_args()
    params = read_yaml(PATH)
    if read_yaml(NETWORK)["network"] != PAPER:
        write_frame(INTERVENTIONS / "accuracy.parquet", pd.DataFrame(columns=COLUMNS))
        write_json(CAPACITY, {})
        return
    test: Test = get_param(params, "test", Test)
    how: Interventions = get_param(params, "interventions", Interventions)
    norm, root_seed = get_param(params, "norm", Norm), get_param(params, "seed", Index)
    size, blocks = get_param(params, "seeds_per_block", SeedsPerBlock), get_param(params, "blocks", Blocks)
    attention = get_param(params, "attention", str)

    def group(task: str, range_: str, block: int) -> Group:
        variants, weights = {}, {}
        for name in trained(range_, norm):
            variant = Variant.of(params, task, name, attention)
            path = Run(task, range_, name, block, attention).weights
            variants[name] = variant
            weights[name] = read_weights(path, variant, task_training(params, task), size)
        lengths: Range = get_param(params, f"ranges.{range_}", Range)
        return Group(range_, lengths, variants, weights, open_sequences(task, test.lengths))

    found = []
    for block in blocks:
        groups = [group(task, range_, block) for task in TASKS for range_ in ranges_of(params)]
        found.append(intervene(groups, seeds(block, size), how, root_seed))
    for name, frames in zip(("accuracy", "counts"), zip(*found, strict=True), strict=True):
        write_frame(INTERVENTIONS / f"{name}.parquet", pd.concat(frames, ignore_index=True))

    compared = {}
    for task in TASKS:
        first = group(task, "short", blocks[0])
        weights = {name: array[:1] for name, array in first.weights["ln"].items()}
        compared[task] = as_std.compare(first.variants["ln"], weights, first.sequences)
    write_json(CAPACITY, compared)


if __name__ == "__main__":
    run(main)
