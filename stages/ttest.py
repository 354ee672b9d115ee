"""Compare the variants over seeds: paired tests, Tables 1 to 6, what explains accuracy, what interventions recover."""

from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from vanishing_variance.engine.config import Norm
from vanishing_variance.engine.ranges import ranges_of
from vanishing_variance.engine.seeds import Blocks
from vanishing_variance.harness.arrays import read_arrays
from vanishing_variance.harness.files import read_document
from vanishing_variance.harness.frames import read_csv, read_frame
from vanishing_variance.harness.outputs import write_files
from vanishing_variance.harness.paths import CAPACITY, INTERVENTIONS, METRICS, NETWORK, PAPER, Run
from vanishing_variance.harness.script import Arguments, run
from vanishing_variance.harness.sections import PATH, get_param
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.results.accuracy import COLUMNS
from vanishing_variance.results.explained import inside
from vanishing_variance.results.files import TrainingSetup, comparison, explanation, not_measured, recovery
from vanishing_variance.results.runs import REFERENCE, expected

# Which run a row is of; all have one attention map.
NAMES = ["task", "range", "norm", "block"]


def main() -> None:
    Arguments(description=__doc__).parse_args()
    params = {**read_yaml(PATH), **read_yaml(NETWORK)}
    blocks = get_param(params, "blocks", Blocks)
    norm = get_param(params, "norm", Norm)
    trained = TrainingSetup.of(params)
    attention = get_param(params, "attention", str)
    runs = expected(norm, blocks, ranges_of(params), attention)

    def evaluated(name: str) -> pd.DataFrame:
        """Return a frame of all runs, with the columns NAMES of `Run`."""
        frames = []
        for block_run in runs:
            frame = read_frame(block_run.folder("evaluated") / f"{name}.parquet")
            frames.append(frame.assign(**{column: getattr(block_run, column) for column in NAMES}))
        return pd.concat(frames, ignore_index=True)

    @cache
    def answers(task: str, range_: str, variant: str) -> dict[str, np.ndarray]:
        parts = []
        for block in blocks:
            evaluated_in = Run(task, range_, variant, block, attention).folder("evaluated")
            parts.append(read_arrays(evaluated_in / "answers.safetensors"))
        return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}

    accuracy = evaluated("accuracy")[COLUMNS].sort_values(COLUMNS, ignore_index=True)
    files = comparison(accuracy, answers, read_csv(REFERENCE), norm, trained)
    fitted = evaluated("temperatures")
    files["tables/temperatures.csv"] = fitted[[*NAMES, *fitted.columns.drop(NAMES)]]
    if trained.network == PAPER:
        files["capacity.json"] = read_document(CAPACITY, dict[str, Any])
        files |= explanation(inside(evaluated("mechanism")), accuracy, trained)
        intervened = read_frame(INTERVENTIONS / "accuracy.parquet")
        counts = read_frame(INTERVENTIONS / "counts.parquet")
        files |= recovery(intervened, counts, norm, trained)
    else:
        files |= not_measured(trained.network)
    write_files(METRICS, files)


if __name__ == "__main__":
    run(main)
