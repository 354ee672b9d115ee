"""Choices that the paper leaves open, one at a time: which moves `none` towards the paper's numbers?

Every row is an experiment, `dvc exp run -S <row> evaluate@<task>-short-none-0`, in a clone of this checkout's last
commit that shares its cache, so that what ran once does not run again. Writes metrics/choices.csv and choices.md.
"""

import argparse
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from benchmarks import ROOT
from vanishing_variance.core.files import write_text
from vanishing_variance.core.frames import read_csv, read_frame, write_csv
from vanishing_variance.core.paths import Run
from vanishing_variance.statistics.intervals import interval
from vanishing_variance.study.markdown import power, table
from vanishing_variance.study.runs import METRICS, REFERENCE


@dataclass(frozen=True)
class Series:
    """Changes of one task and range, each tried alone at so many steps; the first row of each changes nothing."""

    task: str
    range: str
    steps: int
    changes: tuple[str, ...]

    @property
    def stage(self) -> str:
        """The stage whose results are read."""
        kind = "evaluate" if self.range == "short" else f"evaluate-{self.range}"
        return f"{kind}@{self.task}-{self.range}-none-0"


NOTHING = "nothing"
COLUMNS = ["series", "change", "steps", "length", "n", "mean", "low", "high"]
LAYERS = ("model.initialisation=lecun", "model.initialisation=xavier", "model.attention_biases=true")
GROWTH = ("ranges.long.growth=null", "ranges.long.growth.until=0.5", "ranges.long.growth.shape=linear")
CHOICES = {
    "argmax-short": Series(
        *("argmax", "short", 20_000),
        (
            *("training.weight_decay=0.01", *LAYERS, "model.gelu=tanh"),
            *("ranges.short.shortest=1", "test.sequences=4096"),
        ),
    ),
    "dictionary-short": Series(
        *("dictionary", "short", 10_000),
        (
            *("training.weight_decay=0.01", "model.initialisation=lecun", "ranges.short.shortest=1"),
            *("tasks.dictionary.training.embedding_std=1.0", "tasks.dictionary.training.embedding_width=16"),
        ),
    ),
    "argmax-long": Series("argmax", "long", 4_000, GROWTH),
    "dictionary-long": Series("dictionary", "long", 4_000, GROWTH),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("series", nargs="*", choices=[[], *CHOICES], help="these alone; the others' rows stay")
    chosen = parser.parse_args().series or list(CHOICES)
    path = ROOT / METRICS / "choices.csv"
    found = read_csv(path) if path.exists() else pd.DataFrame(columns=COLUMNS)
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "clone"
        _run(ROOT, "git", "clone", "--quiet", str(ROOT), str(clone))
        _run(clone, "dvc", "config", "--local", "cache.dir", str(ROOT / ".dvc/cache"))
        for name in chosen:
            others = found[found["series"] != name]
            parts = [others] if len(others) else []
            for change in (NOTHING, *CHOICES[name].changes):
                parts.append(measured(clone, CHOICES[name], change).assign(series=name))
                print(parts[-1].to_string(index=False), flush=True)
            found = pd.concat(parts, ignore_index=True)[COLUMNS]
            write_csv(path, found)
            write_text(path.with_suffix(".md"), markdown(found))


def measured(clone: Path, series: Series, change: str) -> pd.DataFrame:
    """change, steps, length, n, and of `none` the mean accuracy (%) and its 95% t interval over seeds."""
    key = f"tasks.{series.task}.training.steps" if series.range == "short" else f"ranges.{series.range}.steps"
    changes = [f"{key}={series.steps}", *([] if change == NOTHING else [change])]
    options = [part for one in changes for part in ("-S", one)]
    _run(clone, "dvc", "exp", "run", "--quiet", *options, series.stage)
    accuracy = read_frame(clone / Run(series.task, series.range, "none", 0).folder("evaluated") / "accuracy.parquet")
    _run(clone, "git", "checkout", "--quiet", "params.yaml", "dvc.lock")
    plain = accuracy[accuracy["temperature"] == "plain"]
    rows = [
        (change, series.steps, int(str(length)), len(of), *interval(of["accuracy"].to_numpy() * 100))
        for length, of in plain.groupby("length")
    ]
    return pd.DataFrame(rows, columns=COLUMNS[1:])


def markdown(found: pd.DataFrame) -> str:
    """A table a series: a row a change, a column a length, and the mean absolute difference from the paper's `none`."""
    paper = read_csv(REFERENCE).query("variant == 'none' and temperature == 'plain'")
    lines = []
    for name, of in found.groupby("series", sort=False):
        series, lengths = CHOICES[str(name)], sorted(of["length"].unique())
        theirs = paper[(paper["task"] == series.task) & (paper["range"] == series.range)]
        published = theirs.set_index("length")["value"].reindex(lengths)
        rows = []
        for change, one in of.groupby("change", sort=False):
            means = one.set_index("length")["mean"].reindex(lengths)
            away = f"{(means - published).abs().mean():.1f}"
            rows.append([str(change), *(f"{mean:.1f}" for mean in means), away])
        shown = ["–" if pd.isna(value) else f"{value:.1f}" for value in published]
        lines += [
            f"# {series.task}, {series.range} range, none: accuracy (%) after {of['steps'].iloc[0]} steps,"
            f" means over n = {of['n'].iloc[0]} seeds",
            "",
            *table(["changed", *map(power, lengths), "from the paper's (pp)"], [*rows, ["paper", *shown, ""]]),
            "",
        ]
    return "\n".join(lines)


def _run(where: Path, *command: str) -> None:
    done = subprocess.run(command, cwd=where, check=False, capture_output=True, text=True)
    if done.returncode:
        said = done.stderr.strip() or done.stdout.strip() or "failed"
        sys.exit(f"error: {' '.join(command)}: {said.splitlines()[-1]}")


if __name__ == "__main__":
    main()
