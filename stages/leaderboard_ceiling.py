"""Predict the accuracy of hard attention on argmax from the weights of the leaderboard's lines."""

import pandas as pd

from vanishing_variance.engine.seeds import Index, SeedsPerBlock
from vanishing_variance.engine.streams import stream
from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.frames import read_frame, write_csv
from vanishing_variance.harness.runs import METRICS
from vanishing_variance.harness.script import Arguments, run
from vanishing_variance.harness.sections import get_param
from vanishing_variance.leaderboard import files
from vanishing_variance.leaderboard.ceiling import ceiling, class_offsets, markdown
from vanishing_variance.leaderboard.treatments import read_params, read_treatments, training_plan
from vanishing_variance.measure.inference.stored import read_weights

FOLDER, TASK = METRICS / "leaderboard", "argmax"


def main() -> None:
    Arguments(description=__doc__).parse_args()
    params = read_params()
    seeds = get_param(params, "seeds_per_block", SeedsPerBlock)
    offsets, accuracy = {}, []
    for line, treatment in read_treatments().items():
        if (files.trained(line, TASK) / files.DIVERGED).exists():
            continue
        plan = training_plan(params, TASK, line, treatment)
        weights = read_weights(files.trained(line, TASK) / files.WEIGHTS, plan.variant, plan.task_training, seeds)
        offsets[line] = class_offsets(plan.variant, weights)
        accuracy.append(read_frame(files.tested(line, TASK) / "accuracy.parquet", *files.ACCURACY).assign(line=line))
    rng = stream(get_param(params, "seed", Index), "leaderboard", "ceiling")
    there = pd.concat(accuracy) if accuracy else pd.DataFrame(columns=[*files.ACCURACY, "line"])
    found = ceiling(offsets, there, rng)
    write_csv(FOLDER / "ceiling.csv", found)
    write_text(FOLDER / "ceiling.md", markdown(found))


if __name__ == "__main__":
    run(main)
