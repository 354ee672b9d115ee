"""Test the models of one line of a study on one task, at every length."""

import json
from collections.abc import Mapping
from typing import Any

import pandas as pd

from stages.evaluate import evaluate, weights_by_rule
from vanishing_variance.engine.plan import TrainingPlan
from vanishing_variance.engine.seeds import seeds
from vanishing_variance.harness.frames import read_frame, write_csv
from vanishing_variance.harness.runs import PAPER
from vanishing_variance.harness.script import run
from vanishing_variance.harness.sections import PATH
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.measure.training_loss import training_losses
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
    weights = weights_by_rule(this)
    block = seeds(this.block, params["seeds_per_block"])
    if params["network"] == PAPER:
        losses = training_losses(TrainingPlan.of(params, this), block, weights)
        return results(accuracy, losses, read_frame(folder / "mechanism.parquet"))

    # Here, as in stages.train.
    from vanishing_variance.measure.plain_models import plain_losses  # noqa: PLC0415
    from vanishing_variance.plain.plan import PlainPlan  # noqa: PLC0415

    plan = PlainPlan.of(params, this, params["network"], params["network_options"])
    losses = plain_losses(plan, block, weights)
    inside = folder / "inside.parquet"
    return beside(accuracy, losses, last_layer(read_frame(inside)) if inside.exists() else None)


if __name__ == "__main__":
    run(main)
