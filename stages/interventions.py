"""Set one thing inside the models of one run, and leave the rest: accuracies by seed, a row an intervention.

One of the interventions gives the models the attention weights of their partner's, of another line. Of models of the
plain engine there are no rows, nor where its own training, or its partner's, diverged.
"""

import pandas as pd

from vanishing_variance import engines
from vanishing_variance.engine.seeds import seeds
from vanishing_variance.harness.arrays import read_arrays
from vanishing_variance.harness.frames import write_csv
from vanishing_variance.harness.script import run_script
from vanishing_variance.harness.sections import get_param
from vanishing_variance.measure.config import Interventions
from vanishing_variance.measure.drawn import sequences_of
from vanishing_variance.measure.held_out import Test
from vanishing_variance.measure.interventions.measurement import COLUMNS, Trained, intervene
from vanishing_variance.studies.arguments import planned_run, require_as_planned
from vanishing_variance.studies.files import DIVERGED, measured_file


def main() -> None:
    planned, key = planned_run(__doc__)
    this = planned.run(key)
    params = planned.params(key, "train", "interventions")
    path = measured_file(this, "interventions")
    runs = (this, planned.partner(key)) if "interventions" in params else ()
    if not runs or any((run.folder("trained") / DIVERGED).exists() for run in runs):
        write_csv(path, pd.DataFrame(columns=COLUMNS))
        return
    require_as_planned(planned, planned.partner(key).key, "train")
    models, others = (
        Trained(engines.plan_of(planned.params(one.key, "train"), one), read_arrays(one.weights)) for one in runs
    )
    settings: Interventions = get_param(params, "interventions", Interventions)
    sequences = sequences_of(models.plan, get_param(params, "test", Test), stored=not this.study)
    block = seeds(this.block, params["seeds_per_block"])
    found = intervene(models, others, sequences, block, settings)
    require_as_planned(planned, key, "train", "interventions")
    require_as_planned(planned, planned.partner(key).key, "train")
    write_csv(path, found)


if __name__ == "__main__":
    run_script(main)
