"""The leaderboard: lines ranked by their accuracy beyond training, their accuracy at every length, and an ablation."""

import json
from itertools import product
from pathlib import Path

import pandas as pd

from vanishing_variance.engine.ranges import Range
from vanishing_variance.engine.registry import load_task
from vanishing_variance.figures.images import write_figure
from vanishing_variance.figures.leaderboard import draw
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.files import write_json, write_text
from vanishing_variance.harness.frames import read_csv, read_frame, write_csv
from vanishing_variance.harness.runs import METRICS, PLOTS, TASKS
from vanishing_variance.harness.script import Arguments, run
from vanishing_variance.harness.sections import PATH, Count, get_param
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.leaderboard import ablation
from vanishing_variance.leaderboard.board import board, relative_steps, summary
from vanishing_variance.leaderboard.files import DIVERGED
from vanishing_variance.leaderboard.scores import curves
from vanishing_variance.leaderboard.tables import ablation_tables, board_table
from vanishing_variance.leaderboard.treatments import line_run, read_ablation, read_treatments
from vanishing_variance.results.accuracy import rows

FOLDER = METRICS / "leaderboard"
# CPU milliseconds of a step of each line, on the machine where benchmarks/prices.py last ran.
PRICES = Path("benchmarks/prices.csv")


def main() -> None:
    Arguments(description=__doc__).parse_args()
    params = read_yaml(PATH)
    treatments = read_treatments()
    ablated = read_ablation()
    longest = get_param(params, "ranges.short", Range).longest
    sequences = get_param(params, "test.sequences", Count)
    classes = {task: get_param(params, f"tasks.{task}.data", load_task(task).TASK).num_classes for task in TASKS}
    accuracies, attentions, diverged = [], [], {}
    for task, (line, treatment) in product(TASKS, treatments.items()):
        folder = line_run(line, treatment, task).folder("evaluated")
        if (folder / DIVERGED).exists():
            diverged[task, line] = json.loads((folder / DIVERGED).read_text())["said"]
        else:
            mechanism = read_frame(folder / "mechanism.parquet").rename(columns={"variance_before": "variance"})
            accuracies.append(read_frame(folder / "accuracy.parquet").assign(task=task, line=line))
            attentions.append(rows(mechanism, sample="tested").assign(task=task, line=line))
    if not accuracies:
        raise InputError("leaderboard: every line diverged on every task; see training in leaderboard/params.yaml")
    accuracy = pd.concat(accuracies)
    attention = pd.concat(attentions)
    table = board(
        accuracy, attention, treatments, classes=classes, sequences=sequences, longest=longest, diverged=diverged
    )
    table["step"] = relative_steps(table, read_csv(PRICES), next(iter(treatments)))
    gains = pd.DataFrame(columns=ablation.COLUMNS)
    if ablated is not None:
        gains = ablation.ablation(accuracy, treatments, ablated, longest)
    write_csv(FOLDER / "accuracy.csv", curves(accuracy))
    write_csv(FOLDER / "board.csv", table)
    write_text(FOLDER / "board.md", board_table(table))
    write_json(FOLDER / "summary.json", summary(table))
    write_csv(FOLDER / "ablation.csv", gains)
    write_text(FOLDER / "ablation.md", ablation_tables(gains))
    write_figure(PLOTS / "leaderboard" / "leaderboard", draw(table))


if __name__ == "__main__":
    run(main)
