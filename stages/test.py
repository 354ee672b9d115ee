"""Test the models of one run at every length, and look inside."""

import json
from collections.abc import Mapping
from typing import Any

import pandas as pd

from vanishing_variance import engines
from vanishing_variance.engine.run import Run
from vanishing_variance.engine.seeds import seeds
from vanishing_variance.harness.arrays import read_arrays, write_arrays
from vanishing_variance.harness.errors import TooLargeError
from vanishing_variance.harness.frames import write_csv, write_frame
from vanishing_variance.harness.script import run_script
from vanishing_variance.harness.sections import get_param
from vanishing_variance.measure import tested
from vanishing_variance.measure.config import Diagnostics
from vanishing_variance.measure.held_out import Test
from vanishing_variance.measure.inference.models import CORRECT
from vanishing_variance.measure.inference.stored import remove_finished_checkpoints, weight_files
from vanishing_variance.studies.arguments import planned_run, require_as_planned
from vanishing_variance.studies.files import DIVERGED, results_file
from vanishing_variance.studies.results import KEYS, results

# Of the first model, for Figures 2 to 4.
DRAWN = ("moments", "features", "attention")


def main() -> None:
    planned, key = planned_run(__doc__)
    this = planned.run(key)
    found = results_or_note(planned.params(key, "train", "test"), this)
    require_as_planned(planned, key, "train", "test")
    write_csv(results_file(this), found)


def results_or_note(params: Mapping[str, Any], this: Run) -> pd.DataFrame:
    """Return the results of a run; or where there are none, of a diverged training or for want of memory, why."""
    diverged = this.folder("trained") / DIVERGED
    try:
        if not diverged.exists():
            return test(params, this)
        note = json.loads(diverged.read_text())["said"]
    except TooLargeError as problem:
        if not this.study:
            raise
        note = str(problem)
    return pd.DataFrame({"note": [note]}, columns=[*KEYS, "note"])


def test(params: Mapping[str, Any], this: Run) -> pd.DataFrame:
    """Return the results of a run, with losses where checkpoints were kept, to match them.

    Of the study of params.yaml write each answer, too, and what Figures 2 to 4 show.
    """
    plan = engines.plan_of(params, this)
    block = seeds(this.block, params["seeds_per_block"])
    weights = {rule: read_arrays(path) for rule, path in weight_files(this).items()}
    answers, frames = tested.answers(
        plan,
        block,
        weights,
        get_param(params, "test", Test),
        get_param(params, "diagnostics", Diagnostics),
        stored=not this.study,
    )
    # weights that are tested have been recorded by DVC, and are whole
    remove_finished_checkpoints(this.folder("checkpoints"), weights["last"])
    if not this.study:
        correct = {f"{rule}-{length}": marks == CORRECT for (rule, length), marks in answers.items()}
        write_arrays(this.folder("tested") / "answers.safetensors", correct)
        for name in frames.keys() & set(DRAWN):
            write_frame(this.folder("tested") / f"{name}.parquet", frames[name])
    has_losses = "loss" in params["measure"] or params["training"]["kept_steps"]
    losses = tested.losses(plan, block, weights) if has_losses else None
    return results(frames, losses, whole="inside" in params["measure"]).assign(**params["made_of"])


if __name__ == "__main__":
    run_script(main)
