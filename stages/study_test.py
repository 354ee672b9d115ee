"""Test the models of one line of a study on one task, at every length."""

import json
from collections.abc import Mapping
from typing import Any

import pandas as pd

from stages.evaluate import evaluate, weights_by_rule
from vanishing_variance.engine.plan import TrainingPlan
from vanishing_variance.engine.run import PAPER
from vanishing_variance.engine.seeds import seeds
from vanishing_variance.harness.errors import TooLargeError
from vanishing_variance.harness.files import write_json
from vanishing_variance.harness.frames import read_frame, write_csv
from vanishing_variance.harness.script import run
from vanishing_variance.measure.training_loss import training_losses
from vanishing_variance.studies.arguments import planned_line
from vanishing_variance.studies.line import DIVERGED, LineRun
from vanishing_variance.studies.results import COLUMNS, beside, by_head, last_layer, results, results_file


def main() -> None:
    params, runs = planned_line(__doc__, "train", "test")
    first = runs[0]
    tested = [results_or_note(params, this) for this in runs]
    write_csv(results_file(first.study, first.task, first.line), pd.concat(tested))


def results_or_note(params: Mapping[str, Any], this: LineRun) -> pd.DataFrame:
    """Return the results of a block; or where there are none, of a diverged training or for want of memory, why."""
    diverged = this.folder("trained") / DIVERGED
    try:
        if not diverged.exists():
            return test(params, this)
        note = json.loads(diverged.read_text())["said"]
    except TooLargeError as problem:
        note = str(problem)
    write_json(this.folder("evaluated") / "note.json", {"said": note})  # DVC misses an output that is not there
    return pd.DataFrame({"note": [note]}, columns=COLUMNS)


def test(params: Mapping[str, Any], this: LineRun) -> pd.DataFrame:
    """Return the results of a block, of whichever network; with losses where checkpoints were kept, to match them."""
    evaluate(params, this)
    folder = this.folder("evaluated")
    accuracy = read_frame(folder / "accuracy.parquet")
    inside = heads_inside(params, this)
    if params["network"] == PAPER:
        tested = results(accuracy, read_frame(folder / "mechanism.parquet"))
    else:
        tested = beside(accuracy, None if inside is None else last_layer(inside))
    if inside is not None:
        tested = tested.merge(by_head(inside), "left", ["seed", "rule", "length"])
    if params["training"]["kept_steps"]:
        tested = tested.merge(losses(params, this).round(6), "left", ["seed", "rule"])
    return tested


def heads_inside(params: Mapping[str, Any], this: LineRun) -> pd.DataFrame | None:
    """Return what is inside each layer and head of a block's models; None where there is one, or it is not measured."""
    if params["network"] != PAPER:
        path = this.folder("evaluated") / "inside.parquet"
        return read_frame(path) if path.exists() else None
    if params["model"]["heads"] == 1:
        return None

    # Here, as in stages.train.
    from vanishing_variance.measure.plain_models import paper_inside  # noqa: PLC0415
    from vanishing_variance.plain.plan import PlainPlan  # noqa: PLC0415

    plan = PlainPlan.of_paper(TrainingPlan.of(params, this))
    block = seeds(this.block, params["seeds_per_block"])
    return paper_inside(plan, block, weights_by_rule(this)["plain"], params["test"]["lengths"])


def losses(params: Mapping[str, Any], this: LineRun) -> pd.DataFrame:
    """Return the loss of each model of a block and of its kept weights: seed, rule, loss."""
    weights = weights_by_rule(this)
    block = seeds(this.block, params["seeds_per_block"])
    if params["network"] == PAPER:
        return training_losses(TrainingPlan.of(params, this), block, weights)

    # Here, as in stages.train.
    from vanishing_variance.measure.plain_models import plain_losses  # noqa: PLC0415
    from vanishing_variance.plain.plan import PlainPlan  # noqa: PLC0415

    return plain_losses(PlainPlan.of(params, this, params["network"], params["network_options"]), block, weights)


if __name__ == "__main__":
    run(main)
