"""Set one thing inside the trained models of a block, and leave the rest: accuracies by seed, a row an intervention.

Of the paper's network alone: of another one there are no rows. One of the interventions gives the models the attention
weights of their partner's: of `none`, and for `none` itself of `ln`, or on the long range of the treatment.
"""

import pandas as pd

from vanishing_variance.engine.ranges import Range
from vanishing_variance.engine.run import PAPER, block_and_partner
from vanishing_variance.engine.seeds import Index, SeedsPerBlock, seeds
from vanishing_variance.engine.variant import Variant
from vanishing_variance.harness.arrays import read_arrays
from vanishing_variance.harness.frames import write_frame
from vanishing_variance.harness.paths import NETWORK
from vanishing_variance.harness.script import run_script
from vanishing_variance.harness.sections import PATH, Lengths, get_param
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.measure.inference.stored import open_sequences
from vanishing_variance.measure.interventions.config import Interventions
from vanishing_variance.measure.interventions.measurement import Block, intervene


def main() -> None:
    this, partner = block_and_partner(__doc__)
    params = read_yaml(PATH)
    folder = this.folder("interventions")
    if read_yaml(NETWORK)["network"] != PAPER:
        write_frame(folder / "accuracy.parquet", pd.DataFrame())
        return
    how: Interventions = get_param(params, "interventions", Interventions)
    size = get_param(params, "seeds_per_block", SeedsPerBlock)
    variant, other = (Variant.of(params, this.task, one.norm, this.attention) for one in (this, partner))
    block = Block(
        range_name=this.range,
        trained=get_param(params, f"ranges.{this.range}", Range),
        variant=variant,
        weights=read_arrays(this.weights),
        partner=other,
        partner_weights=read_arrays(partner.weights),
        sequences=open_sequences(this.task, get_param(params, "test.lengths", Lengths)),
    )
    accuracy = intervene(block, seeds(this.block, size), how, get_param(params, "seed", Index))
    write_frame(folder / "accuracy.parquet", accuracy)


if __name__ == "__main__":
    run_script(main)
