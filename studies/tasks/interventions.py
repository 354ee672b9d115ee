"""The interventions on `majority`, in the models of this study: `python studies/tasks/interventions.py`.

Moments of O are set to those of short sequences, and the other way round; a task without a target has no others.
Writes interventions.csv, shares of the fall of accuracy beyond training and at the longest length, which needs the
weights of `make study NAME=tasks`; and harder.csv, how near the two most frequent classes are at each length, which
needs none: `… interventions.py harder`.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd

from vanishing_variance.engine.ranges import Range
from vanishing_variance.engine.seeds import seeds
from vanishing_variance.engine.streams import stream
from vanishing_variance.engine.variant import Variant
from vanishing_variance.harness.arrays import read_arrays
from vanishing_variance.harness.frames import write_csv
from vanishing_variance.harness.script import run_script
from vanishing_variance.harness.sections import PATH, Lengths, get_param
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.measure.drawn import drawn_sequences
from vanishing_variance.measure.interventions.config import Interventions
from vanishing_variance.measure.interventions.measurement import Block, intervene
from vanishing_variance.results.shares import shares
from vanishing_variance.studies.line import LineRun
from vanishing_variance.studies.parameters import line_params
from vanishing_variance.studies.study import read_study
from vanishing_variance.tasks.majority import Majority

HERE = Path(__file__).parent
LINES = ("none", "ln", "falls-none", "falls-ln")
TASK, BLOCK = "majority", 22
SEQUENCES = 2048  # a length, of `harder`


def main() -> None:
    """Measure, write and print."""
    write_csv(HERE / "harder.csv", harder())
    if sys.argv[1:] == ["harder"]:
        return
    found = pd.concat(map(shares_of_line, LINES))
    write_csv(HERE / "interventions.csv", found)
    beyond = found[found["length"].isna()].drop(columns=["task", "range", "length", "note"])
    print(beyond.to_string(index=False))


def harder() -> pd.DataFrame:
    """Return by length the mean gap of the two largest counts, in percent of the items; and what a reader scores.

    The reader knows each class's share with a normal error of 1% of the items, or of 0.1%; percent of sequences.
    """
    task, found = Majority(), []
    for length in get_param(read_yaml(PATH), "test.lengths", Lengths):
        rng = stream(0, "harder", length)
        batch = task.sample(rng, SEQUENCES, length)
        share = task.counts(batch["class"]) / length
        ordered = np.sort(share, axis=1)
        row = {"length": length, "gap": 100 * (ordered[:, -1] - ordered[:, -2]).mean()}
        for error in (0.01, 0.001):
            read = share + rng.normal(scale=error, size=share.shape)
            row[f"reader_{error}"] = 100 * (read.argmax(axis=1) == task.label(batch)).mean()
        found.append(row)
    return pd.DataFrame(found).round(2)


def shares_of_line(line: str) -> pd.DataFrame:
    """Return the shares of the fall, `norm` being the line's name."""
    params = line_params(read_yaml(PATH), read_study(HERE.name), line)
    this = LineRun(TASK, "short", params["norm"], BLOCK, params["attention"], HERE.name, line)
    variant = Variant.of(params, TASK, this.norm, this.attention)
    weights = read_arrays(this.weights)
    lengths = get_param(params, "test.lengths", Lengths)
    sequences = drawn_sequences(variant.task, TASK, params["seed"], params["test"]["sequences"], lengths)
    trained = get_param(params, "ranges.short", Range)
    block = Block("short", trained, variant, weights, variant, weights, sequences)
    how: Interventions = get_param(params, "interventions", Interventions)
    accuracy = intervene(block, seeds(BLOCK, params["seeds_per_block"]), how, params["seed"])
    found = shares(accuracy, {"short": trained.longest}).assign(norm=line)
    shown: pd.DataFrame = found[found["length"].isna() | (found["length"] == max(lengths))]
    return shown


if __name__ == "__main__":
    run_script(main)
