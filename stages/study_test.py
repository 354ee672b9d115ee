"""Test the models of one line of a study on one task, at every length."""

import json

import pandas as pd

from stages.evaluate import evaluate
from vanishing_variance.harness.frames import read_frame, write_csv
from vanishing_variance.harness.script import run
from vanishing_variance.harness.sections import PATH
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.studies.arguments import planned_line
from vanishing_variance.studies.plan import DIVERGED
from vanishing_variance.studies.results import COLUMNS, results, results_file


def main() -> None:
    plan, runs = planned_line(__doc__)
    params = read_yaml(PATH)
    tested = []
    for this in runs:
        diverged = this.folder("trained") / DIVERGED
        if diverged.exists():
            note = json.loads(diverged.read_text())["said"]
            tested.append(pd.DataFrame({"note": [note]}, columns=COLUMNS))
        else:
            evaluate({**params, **plan}, this)
            frames = [read_frame(this.folder("evaluated") / f"{name}.parquet") for name in ("accuracy", "mechanism")]
            tested.append(results(*frames))
    first = runs[0]
    write_csv(results_file(first.study, first.task, first.line), pd.concat(tested))


if __name__ == "__main__":
    run(main)
