"""Test one block of models of a line of a study on one task, at every length."""

import json
from collections.abc import Mapping
from functools import partial
from typing import Any

import pandas as pd

from stages.evaluate import evaluated, weights_by_rule
from vanishing_variance.engine.plan import TrainingPlan
from vanishing_variance.engine.registry import why_plain
from vanishing_variance.engine.seeds import seeds
from vanishing_variance.engine.variant import Variant
from vanishing_variance.harness.errors import TooLargeError
from vanishing_variance.harness.frames import write_csv
from vanishing_variance.harness.script import run_script
from vanishing_variance.measure.drawn import drawn_sequences
from vanishing_variance.measure.training_loss import training_losses
from vanishing_variance.studies.arguments import planned_run
from vanishing_variance.studies.line import DIVERGED, LineRun
from vanishing_variance.studies.results import (
    KEYS,
    by_head,
    last_layer,
    losses_by_rule,
    mechanism_of_study,
    mechanism_of_tables,
    results,
    results_file,
)


def main() -> None:
    params, this = planned_run(__doc__, "train", "test")
    write_csv(results_file(this.study, this.name), results_or_note(params, this))


def results_or_note(params: Mapping[str, Any], this: LineRun) -> pd.DataFrame:
    """Return the results of a block; or where there are none, of a diverged training or for want of memory, why."""
    diverged = this.folder("trained") / DIVERGED
    try:
        if not diverged.exists():
            return test(params, this)
        note = json.loads(diverged.read_text())["said"]
    except TooLargeError as problem:
        note = str(problem)
    return pd.DataFrame({"note": [note]}, columns=[*KEYS, "note"])


def test(params: Mapping[str, Any], this: LineRun) -> pd.DataFrame:
    """Return the results of a block, of whichever network; with losses where checkpoints were kept, to match them."""
    variant = Variant.of(params, this.task, this.norm, this.attention)
    number = params["test"]["sequences"]
    _, frames = evaluated(params, this, partial(drawn_sequences, variant.task, this.task, params["seed"], number))
    measured = []
    if not why_plain(params, this.task):
        mechanism = mechanism_of_tables if "paper_tables" in params else mechanism_of_study
        measured.append(mechanism(frames["mechanism"]))
        heads = heads_inside(params, this)
    else:
        heads = frames.get("inside")
        if heads is not None:
            measured.append(last_layer(heads))
    if heads is not None:
        measured.append(by_head(heads))
    if params["training"]["kept_steps"]:
        measured.append(losses_by_rule(losses(params, this)))
    return results(frames["accuracy"], *measured)


def heads_inside(params: Mapping[str, Any], this: LineRun) -> pd.DataFrame | None:
    """Return what is inside each head of the paper's network, of a block's models; None where there is one."""
    if params["model"]["heads"] == 1:
        return None

    # Here, as in stages.train.
    from vanishing_variance.measure.plain_models.inside import paper_inside  # noqa: PLC0415
    from vanishing_variance.plain.plan import PlainPlan  # noqa: PLC0415

    plan = PlainPlan.of_paper(TrainingPlan.of(params, this))
    block = seeds(this.block, params["seeds_per_block"])
    return paper_inside(plan, block, weights_by_rule(this)["last"], params["test"]["lengths"])


def losses(params: Mapping[str, Any], this: LineRun) -> pd.DataFrame:
    """Return the loss of each model of a block and of its kept weights: seed, rule, loss."""
    weights = weights_by_rule(this)
    block = seeds(this.block, params["seeds_per_block"])
    if not why_plain(params, this.task):
        return training_losses(TrainingPlan.of(params, this), block, weights)

    # Here, as in stages.train.
    from vanishing_variance.measure.plain_models.answers import plain_losses  # noqa: PLC0415
    from vanishing_variance.plain.plan import PlainPlan  # noqa: PLC0415

    plan = PlainPlan.of(params, this, params["network"], params.get("network_options"))
    return plain_losses(plan, block, weights)


if __name__ == "__main__":
    run_script(main)
