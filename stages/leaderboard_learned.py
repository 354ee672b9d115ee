"""Look into the weights of the leaderboard's lines: what maps learned, and hard attention's accuracy on argmax."""

from itertools import product

import pandas as pd

from vanishing_variance.engine.seeds import Index, SeedsPerBlock
from vanishing_variance.engine.streams import stream
from vanishing_variance.engine.variant import Variant, task_training
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.frames import read_frame, write_csv
from vanishing_variance.harness.runs import METRICS, TASKS
from vanishing_variance.harness.script import Arguments, run
from vanishing_variance.harness.sections import get_param
from vanishing_variance.leaderboard.ceiling import ceiling, class_offsets
from vanishing_variance.leaderboard.files import DIVERGED
from vanishing_variance.leaderboard.learned import learned
from vanishing_variance.leaderboard.tables import ceiling_table, learned_table
from vanishing_variance.leaderboard.treatments import line_params, line_run, read_params, read_treatments
from vanishing_variance.measure.inference.stored import read_weights

FOLDER = METRICS / "leaderboard"


def main() -> None:
    Arguments(description=__doc__).parse_args()
    params = read_params()
    seeds = get_param(params, "seeds_per_block", SeedsPerBlock)
    weights, offsets, accuracies = {}, {}, []
    for (line, treatment), task in product(read_treatments().items(), TASKS):
        this = line_run(line, treatment, task)
        if (this.folder("trained") / DIVERGED).exists():
            continue
        own = line_params(params, treatment)
        variant = Variant.of(own, task, this.norm, this.attention)
        models = read_weights(this.weights, variant, task_training(own, task), seeds)
        weights[line, task] = models
        if task == "argmax":
            offsets[line] = class_offsets(variant, models)
            accuracy = read_frame(this.folder("evaluated") / "accuracy.parquet")
            accuracies.append(accuracy.assign(line=line))
    if not accuracies:
        raise InputError("leaderboard: every line diverged on argmax; see training in leaderboard/params.yaml")
    parameters = learned(weights)
    rng = stream(get_param(params, "seed", Index), "leaderboard", "ceiling")
    ceilings = ceiling(offsets, pd.concat(accuracies), rng)
    write_csv(FOLDER / "learned.csv", parameters)
    write_text(FOLDER / "learned.md", learned_table(parameters))
    write_csv(FOLDER / "ceiling.csv", ceilings)
    write_text(FOLDER / "ceiling.md", ceiling_table(ceilings))


if __name__ == "__main__":
    run(main)
