"""Test the models of one line of a study on one task, at every length."""

import json
from collections.abc import Mapping
from typing import Any

import pandas as pd

from stages.evaluate import evaluate
from vanishing_variance.engine.seeds import seeds
from vanishing_variance.harness.arrays import read_arrays
from vanishing_variance.harness.frames import read_frame, write_csv, write_frame
from vanishing_variance.harness.script import run
from vanishing_variance.harness.sections import PATH, get_param
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.measure.held_out import Test
from vanishing_variance.studies.arguments import planned_line
from vanishing_variance.studies.plan import DIVERGED, LineRun
from vanishing_variance.studies.results import COLUMNS, beside, last_layer, results, results_file


def main() -> None:
    plan, runs = planned_line(__doc__)
    params = {**read_yaml(PATH), **plan}
    test_line = test_network if "network" in plan else test
    tested = []
    for this in runs:
        diverged = this.folder("trained") / DIVERGED
        if diverged.exists():
            note = json.loads(diverged.read_text())["said"]
            tested.append(pd.DataFrame({"note": [note]}, columns=COLUMNS))
        else:
            tested.append(test_line(params, this))
    first = runs[0]
    write_csv(results_file(first.study, first.task, first.line), pd.concat(tested))


def test(params: Mapping[str, Any], this: LineRun) -> pd.DataFrame:
    """Return the results of a block of the fast engine."""
    evaluate(params, this)
    accuracy, mechanism = (
        read_frame(this.folder("evaluated") / f"{name}.parquet") for name in ("accuracy", "mechanism")
    )
    return results(accuracy, mechanism)


def test_network(params: Mapping[str, Any], this: LineRun) -> pd.DataFrame:
    """Return the results of a block of the plain engine; what is inside its models goes to the run's folder."""
    # Here, as in study_train.
    from vanishing_variance.measure.plain_models import has_inside, plain_accuracy, plain_inside  # noqa: PLC0415
    from vanishing_variance.plain.plan import PlainPlan  # noqa: PLC0415

    plan = PlainPlan.of(params, this, params["network"], params["network_options"])
    numbers = seeds(this.block, params["seeds_per_block"])
    tested = get_param(params, "test", Test)
    weights = {"plain": read_arrays(this.weights)}
    for path in sorted(this.folder("trained").glob("*.safetensors")):
        if path != this.weights:
            weights[path.stem] = read_arrays(path)
    accuracy = plain_accuracy(plan, numbers, weights, tested.lengths, tested.sequences)
    write_frame(this.folder("evaluated") / "accuracy.parquet", accuracy)
    if not has_inside(plan):
        return accuracy.reindex(columns=COLUMNS)
    inside = plain_inside(plan, numbers, weights["plain"], tested.lengths, tested.sequences)
    write_frame(this.folder("evaluated") / "inside.parquet", inside)
    return beside(accuracy, last_layer(inside))


if __name__ == "__main__":
    run(main)
