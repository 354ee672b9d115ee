"""Compare the variants over seeds: paired tests, Tables 1 to 6, what explains accuracy, what interventions recover.

And gather the training losses, and the measurements of Proposition 1.
"""

from collections.abc import Sequence
from functools import cache
from itertools import product

import numpy as np
import pandas as pd

from vanishing_variance.engine.config import Norm
from vanishing_variance.engine.ranges import ranges_of
from vanishing_variance.engine.run import PAPER, Run
from vanishing_variance.engine.seeds import Blocks
from vanishing_variance.harness.arrays import read_arrays
from vanishing_variance.harness.files import write_json
from vanishing_variance.harness.frames import read_csv, read_frame, write_csv, write_frame
from vanishing_variance.harness.outputs import write_files
from vanishing_variance.harness.paths import LOSSES, METRICS, NETWORK, PLOTS
from vanishing_variance.harness.script import Arguments, run_script
from vanishing_variance.harness.sections import PATH, Length, get_param
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.measure.proposition import summary
from vanishing_variance.results.accuracy import COLUMNS, rounded
from vanishing_variance.results.files import TrainingSetup, comparison, mechanism, not_measured, recovery
from vanishing_variance.results.inside import inside
from vanishing_variance.results.leftovers import remove_others
from vanishing_variance.results.runs import REFERENCE, TASKS, expected, gathered

# Which run a row is of; all have one attention map.
NAMES = ["task", "range", "norm", "block"]


def main() -> None:
    Arguments(description=__doc__).parse_args()
    params = {**read_yaml(PATH), **read_yaml(NETWORK)}
    blocks = get_param(params, "blocks", Blocks)
    norm = get_param(params, "norm", Norm)
    tail = get_param(params, "proposition.tail", Length)
    trained = TrainingSetup.of(params)
    attention = get_param(params, "attention", str)
    runs = expected(norm, blocks, ranges_of(params), attention)
    remove_others(gathered(runs))

    @cache
    def answers(task: str, range_: str, variant: str) -> dict[str, np.ndarray]:
        parts = []
        for block in blocks:
            evaluated_in = Run(task, range_, variant, block, attention).folder("evaluated")
            parts.append(read_arrays(evaluated_in / "answers.safetensors"))
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    accuracy = gather(runs, "evaluated", "accuracy")[COLUMNS].sort_values(COLUMNS, ignore_index=True)
    files = comparison(accuracy, answers, read_csv(REFERENCE), norm, trained)
    if trained.network == PAPER:
        files |= mechanism(inside(gather(runs, "evaluated", "mechanism")), accuracy, trained)
        files |= recovery(gather(runs, "interventions", "accuracy"), norm, trained)
        pair = [Run(task, "short", one, blocks[0], attention) for task, one in product(TASKS, ("none", norm))]
        write_proposition(gather(pair, "proposition", "cells"), tail, norm)
    else:
        files |= not_measured(trained.network)
        write_csv(PLOTS / "proposition" / "proposition-exponents.csv", pd.DataFrame(columns=summary.DRAWN))
        write_json(METRICS / "proposition.json", {})
    write_files(METRICS, files)
    write_frame(LOSSES, gather(runs, "trained", "losses"))


def gather(runs: Sequence[Run], kind: str, name: str) -> pd.DataFrame:
    """Return a frame of all runs, with the columns NAMES of `Run`."""
    frames = []
    for one in runs:
        frame = read_frame(one.folder(kind) / f"{name}.parquet")
        frames.append(frame.assign(**{column: getattr(one, column) for column in NAMES}))
    return pd.concat(frames, ignore_index=True)


def write_proposition(cells: pd.DataFrame, tail: int, norm: str) -> None:
    """Write what was measured of Proposition 1, and the exponents."""
    laws = summary.exponents(cells, tail)
    write_csv(PLOTS / "proposition" / "proposition.csv", rounded(summary.lines(cells)))
    write_csv(PLOTS / "proposition" / "proposition-exponents.csv", rounded(laws[summary.DRAWN]))
    write_json(METRICS / "proposition.json", summary.summary(cells, laws, norm))


if __name__ == "__main__":
    run_script(main)
