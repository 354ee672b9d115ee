"""What the paper leaves open, one choice at a time: which moves `none` towards the paper's numbers?

Every row is an experiment, `dvc exp run -S <row> evaluate@<task>-short-none-0`, in a clone of this checkout's last
commit that shares its cache, so that what ran once does not run again. Writes metrics/choices.csv and choices.md.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import pandas as pd

from benchmarks import ROOT
from vanishing_variance.io.files import write_text
from vanishing_variance.io.frames import read_csv, read_frame, write_csv
from vanishing_variance.paths import Run
from vanishing_variance.statistics import interval
from vanishing_variance.study import METRICS, REFERENCE
from vanishing_variance.tables import power, row

STEPS = {"argmax": 20_000, "dictionary": 10_000}
CHOICES = {
    "argmax": (
        "",
        "training.weight_decay=0.01",
        "model.initialisation=lecun",
        "model.initialisation=xavier",
        "model.attention_biases=true",
        "model.gelu=tanh",
        "ranges.short.shortest=1",
        "test.sequences=4096",
    ),
    "dictionary": (
        "",
        "training.weight_decay=0.01",
        "model.initialisation=lecun",
        "model.initialisation=xavier",
        "model.attention_biases=true",
        "ranges.short.shortest=1",
        "tasks.dictionary.training.embedding_std=1.0",
        "tasks.dictionary.training.embedding_width=16",
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", choices=CHOICES, action="append", help="this one alone; the others' rows stay")
    chosen = parser.parse_args().task or list(CHOICES)
    path = ROOT / METRICS / "choices.csv"
    rows = [] if not path.exists() else [of for task, of in read_csv(path).groupby("task") if task not in chosen]
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "clone"
        _run(ROOT, "git", "clone", "--quiet", str(ROOT), str(clone))
        _run(clone, "dvc", "config", "--local", "cache.dir", str(ROOT / ".dvc/cache"))
        for task in chosen:
            for choice in CHOICES[task]:
                rows.append(measured(clone, task, choice))
                print(rows[-1].to_string(index=False), flush=True)
    together = pd.concat(rows, ignore_index=True)
    write_csv(path, together)
    write_text(path.with_suffix(".md"), markdown(together))


def measured(clone: Path, task: str, choice: str) -> pd.DataFrame:
    """task, choice, steps, length, n, and of `none` the mean accuracy (%) and its 95% t interval over seeds."""
    changes = [f"tasks.{task}.training.steps={STEPS[task]}", *([choice] if choice else [])]
    options = [part for change in changes for part in ("-S", change)]
    _run(clone, "dvc", "exp", "run", "--quiet", *options, f"evaluate@{task}-short-none-0")
    accuracy = read_frame(clone / Run(task, "short", "none", 0).path("accuracy", ".parquet"))
    _run(clone, "git", "checkout", "--quiet", "params.yaml", "dvc.lock")
    plain = accuracy[accuracy["temperature"] == "plain"]
    found = [
        (task, choice, STEPS[task], int(str(length)), len(of), *interval(of["accuracy"].to_numpy() * 100))
        for length, of in plain.groupby("length")
    ]
    return pd.DataFrame(found, columns=["task", "choice", "steps", "length", "n", "mean", "low", "high"])


def markdown(rows: pd.DataFrame) -> str:
    """A table a task: a row a choice, a column a length, and the mean absolute difference from the paper's `none`."""
    paper = read_csv(ROOT / REFERENCE).query(
        "variant == 'none' and adaptive_temperature == 0 and train_max_length == 16"
    )
    lines = []
    for task, of in rows.groupby("task", sort=False):
        lengths = sorted(of["length"].unique())
        theirs = paper[paper["task"] == task].set_index("length")["value"].reindex(lengths)
        title = f"{task}, none: accuracy (%), means over n = {of['n'].iloc[0]} seeds, {of['steps'].iloc[0]} steps"
        lines += [f"# {title}", "", row(["changed", *map(power, lengths), "from the paper's (pp)"])]
        lines += [row(["---", *["--:"] * (len(lengths) + 1)])]
        for choice, one in of.groupby("choice", sort=False):
            means = one.set_index("length")["mean"].reindex(lengths)
            away = f"{(means - theirs).abs().mean():.1f}"
            lines.append(row([str(choice) or "nothing", *(f"{mean:.1f}" for mean in means), away]))
        lines += [row(["paper", *(f"{value:.1f}" for value in theirs), ""]), ""]
    return "\n".join(lines)


def _run(where: Path, *command: str) -> None:
    done = subprocess.run(command, cwd=where, check=False, capture_output=True, text=True)
    if done.returncode:
        sys.exit(
            f"error: {' '.join(command)}: {(done.stderr.strip() or done.stdout.strip() or 'failed').splitlines()[-1]}"
        )


if __name__ == "__main__":
    main()
