"""Measure what Proposition 1 says inside the first model of a block; of the paper's network alone."""

from math import prod

import pandas as pd

from vanishing_variance.engine.run import PAPER, block_of_variant
from vanishing_variance.engine.seeds import Index
from vanishing_variance.engine.variant import Variant
from vanishing_variance.harness.arrays import read_arrays
from vanishing_variance.harness.frames import write_frame
from vanishing_variance.harness.memory import require_memory
from vanishing_variance.harness.paths import NETWORK
from vanishing_variance.harness.script import run_script
from vanishing_variance.harness.sections import PATH, Lengths, Several, get_param
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.measure.proposition.measurement import measure


def main() -> None:
    this = block_of_variant(__doc__)
    params = read_yaml(PATH)
    path = this.folder("proposition") / "cells.parquet"
    if read_yaml(NETWORK)["network"] != PAPER:
        write_frame(path, pd.DataFrame())
        return
    lengths = get_param(params, "proposition.lengths", Lengths)
    sequences = get_param(params, "proposition.sequences", Several)
    root: int = get_param(params, "seed", Index)
    variant = Variant.of(params, this.task, this.norm, this.attention)
    grows_with = {"proposition.lengths": lengths[-1], "model.width": variant.model.width}
    require_memory(prod(grows_with.values()), grows_with)
    write_frame(path, measure(variant, read_arrays(this.weights), lengths, sequences, root))


if __name__ == "__main__":
    run_script(main)
