"""Copy the results that are there to metrics/<name>/, with what made them; not a stage of the graph."""

import math
import re
import shutil

from vanishing_variance.command import Arguments, run
from vanishing_variance.errors import InputError, shown
from vanishing_variance.io.files import write_json, write_text
from vanishing_variance.io.frames import read_csv
from vanishing_variance.io.machine import machine
from vanishing_variance.io.text import read_text
from vanishing_variance.io.yaml import read_yaml
from vanishing_variance.params.base import PATH, take
from vanishing_variance.params.seeds import Blocks, SeedsPerBlock, seeds
from vanishing_variance.params.whole import check
from vanishing_variance.study import METRICS, PLOTS, RANGES

# What git keeps of a run, apart from pictures and training losses; of a range: its tables and the suffix of its plots.
RESULTS = (
    *("accuracy.csv", "tests.csv", "temperatures.csv", "paper.*", "summary.json", "argmax.json", "dictionary.json"),
    *("mechanism.*", "explained.csv", "capacity.json", "claims.*", "verdicts.json", "proposition.json"),
)
FIGURES = ("accuracy{}.csv", "figure[234].csv", "proposition*.csv")
OF_RANGE = {"short": ("tables/table[1236].*", ""), "long": ("tables/table[45].*", "-long")}


def main() -> None:
    parser = Arguments(description=__doc__, allow_abbrev=False)
    parser.add_argument("name", help="of the folder, for example paper-scale")
    parser.add_argument("--minutes", type=float, required=True, help="how long it all took")
    parser.add_argument("--note", default="", help="what is special about this run")
    chosen = parser.parse_args()
    if not re.fullmatch(r"[a-z][a-z0-9-]{0,63}", chosen.name) or chosen.name == "tables":
        parser.error(f"name: {shown(chosen.name)} must be 1 to 64 of a-z, 0-9 and -, from a letter on; not tables")
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
        shutil.rmtree(METRICS / chosen.name, ignore_errors=True)
        to.rename(METRICS / chosen.name)
    finally:
        shutil.rmtree(to, ignore_errors=True)


if __name__ == "__main__":
    run(main)
