"""Copy the results to metrics/<name>/, with what made them, and draw the accuracies; not a stage of the graph."""

import math
import re
import shutil
from pathlib import Path

from stages.claims import judge_results
from vanishing_variance.command import Arguments, run
from vanishing_variance.errors import InputError, shown
from vanishing_variance.figures import accuracy as accuracy_figure
from vanishing_variance.io.files import write_json, write_text
from vanishing_variance.io.frames import read_csv
from vanishing_variance.io.images import write_figure
from vanishing_variance.io.machine import machine
from vanishing_variance.io.text import read_text
from vanishing_variance.io.yaml import read_yaml
from vanishing_variance.params.base import PATH, take
from vanishing_variance.params.ranges import Range
from vanishing_variance.params.seeds import Blocks, SeedsPerBlock, seeds
from vanishing_variance.params.whole import check
from vanishing_variance.scale import steps
from vanishing_variance.study import METRICS, PLOTS, RANGES, TASKS

# What git keeps of a run, apart from training losses and most pictures; of a range: its tables and its plots' suffix.
RESULTS = (
    *("accuracy.csv", "tests.csv", "temperatures.csv", "paper.*", "summary.json", "argmax.json", "dictionary.json"),
    *("mechanism.*", "explained.csv", "capacity.json", "claims.*", "verdicts.json", "proposition.json"),
)
FIGURES = ("accuracy{}.csv", "figure1*.csv", "figure[234].csv", "proposition*.csv")
OF_RANGE = {"short": ("tables/table[1236].*", ""), "long": ("tables/table[45].*", "-long")}


MEANS = ("task", "temperature", "norm", "length", "n", "mean", "low", "high")


def draw(folder: Path) -> None:
    """Draw the accuracies of a record, a picture a range."""
    params = read_yaml(folder / PATH)
    for name, (_, suffix) in OF_RANGE.items():
        data, trained = folder / PLOTS / f"accuracy{suffix}.csv", take(params, f"ranges.{name}", Range)
        if data.exists():
            made = {task: steps(params, task, name) for task in TASKS}
            figure = accuracy_figure.draw(read_csv(data, *MEANS), (trained.shortest, trained.longest), made)
            write_figure(data.with_suffix(""), figure)


def main() -> None:
    parser = Arguments(description=__doc__, allow_abbrev=False)
    parser.add_argument("name", help="of the folder, for example paper-scale")
    how = parser.add_mutually_exclusive_group(required=True)
    how.add_argument("--minutes", type=float, help="how long it all took")
    how.add_argument("--again", action="store_true", help="copy nothing: judge and draw again what is there")
    parser.add_argument("--note", default="", help="what is special about this run")
    chosen = parser.parse_args()
    if not re.fullmatch(r"[a-z][a-z0-9-]{0,63}", chosen.name) or chosen.name == "tables":
        parser.error(f"name: {shown(chosen.name)} must be 1 to 64 of a-z, 0-9 and -, from a letter on; not tables")
    if chosen.again:
        folder = METRICS / chosen.name
        judge_results(folder, folder / PLOTS, folder / PATH)
        draw(folder)
        return
    if not (math.isfinite(chosen.minutes) and chosen.minutes > 0):
        parser.error(f"argument --minutes: {chosen.minutes} must be a positive number")
    params = read_yaml(PATH)
    check(params)
    size = take(params, "seeds_per_block", SeedsPerBlock)
    wanted = [seed for block in take(params, "blocks", Blocks) for seed in seeds(block, size)]
    accuracy = read_csv(METRICS / "accuracy.csv", "range", "seed", "temperature", "accuracy")
    if sorted(accuracy["seed"].unique()) != sorted(wanted):
        raise InputError(f"{METRICS}/accuracy.csv: its seeds are not those of {PATH}; run dvc repro")
    inside, plain = read_csv(METRICS / "mechanism.csv", "accuracy"), accuracy[accuracy["temperature"] == "plain"]
    if sorted(inside["accuracy"]) != sorted(plain["accuracy"]):
        raise InputError(f"{METRICS}/mechanism.csv: is of another run than accuracy.csv; run dvc repro")
    ranges = [name for name in RANGES if name in set(accuracy["range"])]
    made = {
        **machine(),
        **{"minutes": chosen.minutes, "seeds": len(wanted), "ranges": ranges, "note": chosen.note},
    }
    to = METRICS / f".{chosen.name}.tmp"
    shutil.rmtree(to, ignore_errors=True)
    try:
        for folder, kept, patterns in (
            (METRICS, to, [*RESULTS, *(OF_RANGE[name][0] for name in ranges)]),
            (PLOTS, to / PLOTS, sorted({pattern.format(OF_RANGE[name][1]) for name in ranges for pattern in FIGURES})),
        ):
            for path in sorted(path for pattern in patterns for path in folder.glob(pattern)):
                write_text(kept / path.relative_to(folder), read_text(path))
        write_text(to / PATH.name, read_text(PATH))
        write_json(to / "provenance.json", made)
        draw(to)
        shutil.rmtree(METRICS / chosen.name, ignore_errors=True)
        to.rename(METRICS / chosen.name)
    finally:
        shutil.rmtree(to, ignore_errors=True)


if __name__ == "__main__":
    run(main)
