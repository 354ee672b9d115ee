"""Measure what Proposition 1 says inside the first model of a run.

Of models of the plain engine there are no rows, nor of a training that diverged.
"""

from math import prod

import pandas as pd

from vanishing_variance import engines
from vanishing_variance.harness.arrays import read_arrays
from vanishing_variance.harness.frames import write_csv
from vanishing_variance.harness.memory import require_memory
from vanishing_variance.harness.script import run_script
from vanishing_variance.harness.sections import Lengths, Several, get_param
from vanishing_variance.measure.proposition.measurement import COLUMNS, measure
from vanishing_variance.studies.arguments import planned_run, require_as_planned
from vanishing_variance.studies.files import DIVERGED, measured_file


def main() -> None:
    planned, key = planned_run(__doc__)
    this = planned.run(key)
    params = planned.params(key, "train", "proposition")
    path = measured_file(this, "proposition")
    if "proposition" not in params or (this.folder("trained") / DIVERGED).exists():
        write_csv(path, pd.DataFrame(columns=COLUMNS))
        return
    plan = engines.plan_of(params, this)
    lengths = get_param(params, "proposition.lengths", Lengths)
    sequences = get_param(params, "proposition.sequences", Several)
    grows_with = {"proposition.lengths": lengths[-1], "model.width": plan.variant.model.width}
    require_memory(prod(grows_with.values()), grows_with)
    found = measure(plan.variant, read_arrays(this.weights), lengths, sequences, plan.root_seed)
    require_as_planned(planned, key, "train", "proposition")
    write_csv(path, found)


if __name__ == "__main__":
    run_script(main)
