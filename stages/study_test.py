"""Test the models of one line of a study on one task, at every length."""

import json
from collections.abc import Mapping
from typing import Any

import pandas as pd

from stages.evaluate import evaluate
from vanishing_variance.harness.frames import read_frame, write_csv
from vanishing_variance.harness.runs import PAPER
from vanishing_variance.harness.script import run
from vanishing_variance.harness.sections import PATH
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.studies.arguments import planned_line
from vanishing_variance.studies.plan import DIVERGED, LineRun
from vanishing_variance.studies.results import COLUMNS, beside, last_layer, results, results_file


def main() -> None:
    plan, runs = planned_line(__doc__)
    params = {**read_yaml(PATH), **plan}
    tested = []
    for this in runs:
        diverged = this.folder("trained") / DIVERGED
        if diverged.exists():
            note = json.loads(diverged.read_text())["said"]
            tested.append(pd.DataFrame({"note": [note]}, columns=COLUMNS))
        else:
            tested.append(test(params, this))
    first = runs[0]
    write_csv(results_file(first.study, first.task, first.line), pd.concat(tested))


def test(params: Mapping[str, Any], this: LineRun) -> pd.DataFrame:
    """Return the results of a block, of whichever network."""
    evaluate(params, this)
    folder = this.folder("evaluated")
    accuracy = read_frame(folder / "accuracy.parquet")
    if params["network"] == PAPER:
        return results(accuracy, read_frame(folder / "mechanism.parquet"))
    inside = folder / "inside.parquet"
    if not inside.exists():
        return accuracy.reindex(columns=COLUMNS)
    return beside(accuracy, last_layer(read_frame(inside)))


if __name__ == "__main__":
    run(main)
