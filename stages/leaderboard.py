"""The leaderboard: lines ranked by their accuracy beyond training, as a table, Markdown and a figure; their curves."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from vanishing_variance.engine.ranges import Range
from vanishing_variance.engine.registry import load_task
from vanishing_variance.figures.images import write_figure
from vanishing_variance.figures.leaderboard import draw
from vanishing_variance.harness.files import read_document, write_json, write_text
from vanishing_variance.harness.frames import read_csv, read_frame, write_csv
from vanishing_variance.harness.runs import METRICS, PLOTS
from vanishing_variance.harness.script import Arguments, run
from vanishing_variance.harness.sections import PATH, Count, get_param
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.leaderboard import ablation
from vanishing_variance.leaderboard.board import board, summary
from vanishing_variance.leaderboard.board_table import markdown
from vanishing_variance.leaderboard.curves import curves
from vanishing_variance.leaderboard.files import ACCURACY, ATTENTION, DIVERGED, TASKS, Diverged, tested, trained
from vanishing_variance.leaderboard.treatments import Treatment, read_ablation, read_treatments

FOLDER = METRICS / "leaderboard"
# CPU milliseconds of a step of each line, on the machine where benchmarks/prices.py last ran.
PRICES = Path("benchmarks/prices.csv")


def read_results(lines: list[str]) -> tuple[pd.DataFrame, pd.DataFrame, dict[tuple[str, str], str]]:
    """Return accuracies and attention of all lines that did not diverge, and what was said of those that did."""
    accuracy, attention, diverged = [], [], {}
    for task in TASKS:
        for line in lines:
            path, names = tested(line, task), {"task": task, "line": line}
            said = trained(line, task) / DIVERGED
            if said.exists():
                diverged[task, line] = read_document(said, Diverged)["said"]
                continue
            accuracy.append(read_frame(path / "accuracy.parquet", *ACCURACY).assign(**names))
            attention.append(read_frame(path / "attention.parquet", *ATTENTION).assign(**names))
    return _joined(accuracy, ACCURACY), _joined(attention, ATTENTION), diverged


def _joined(frames: list[pd.DataFrame], columns: Sequence[str]) -> pd.DataFrame:
    there = [frame for frame in frames if len(frame)]
    return pd.concat(there) if there else pd.DataFrame(columns=["task", "line", *columns])


def _write_ablation(treatments: Mapping[str, Treatment], accuracy: pd.DataFrame, longest: int) -> None:
    line = read_ablation()
    found = pd.DataFrame(columns=ablation.COLUMNS)
    if line is not None:
        found = ablation.ablation(accuracy, treatments, line, longest)
    write_csv(FOLDER / "ablation.csv", found)
    write_text(FOLDER / "ablation.md", ablation.markdown(found))


def main() -> None:
    Arguments(description=__doc__).parse_args()
    params, treatments = read_yaml(PATH), read_treatments()
    longest: int = get_param(params, "ranges.short", Range).longest
    accuracy, attention, diverged = read_results(list(treatments))
    table = board(
        accuracy,
        attention,
        treatments,
        classes={task: get_param(params, f"tasks.{task}.data", load_task(task).TASK).num_classes for task in TASKS},
        sequences=get_param(params, "test.sequences", Count),
        longest=longest,
        diverged=diverged,
    )
    prices = read_csv(PRICES, "task", "line", "ms").set_index(["task", "line"])["ms"]
    of_first = prices[prices.index.get_level_values("line") == next(iter(treatments))].droplevel("line")
    first = table["task"].map(of_first)
    table["step"] = table[["task", "line"]].apply(tuple, axis=1).map(prices) / first
    write_csv(FOLDER / "board.csv", table)
    write_text(FOLDER / "board.md", markdown(table))
    write_json(FOLDER / "summary.json", summary(table))
    write_csv(FOLDER / "accuracy.csv", curves(accuracy))
    _write_ablation(treatments, accuracy, longest)
    write_figure(PLOTS / "leaderboard" / "leaderboard", draw(table))


if __name__ == "__main__":
    run(main)
