"""Write the first trained ln model of a block as a std model, and count where the two answer otherwise (Section 3.2).

Of the paper's network alone.
"""

from vanishing_variance.engine.run import PAPER, block_of_variant
from vanishing_variance.engine.seeds import SeedsPerBlock
from vanishing_variance.engine.variant import Variant, task_training
from vanishing_variance.harness.files import write_json
from vanishing_variance.harness.paths import NETWORK
from vanishing_variance.harness.script import run
from vanishing_variance.harness.sections import PATH, Lengths, get_param
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.measure.inference.stored import open_sequences, read_weights
from vanishing_variance.measure.interventions import as_std


def main() -> None:
    this = block_of_variant(__doc__)
    params = read_yaml(PATH)
    path = this.folder("capacity") / "compared.json"
    if read_yaml(NETWORK)["network"] != PAPER:
        write_json(path, {})
        return
    lengths = get_param(params, "test.lengths", Lengths)
    size = get_param(params, "seeds_per_block", SeedsPerBlock)
    variant = Variant.of(params, this.task, this.norm, this.attention)
    weights = read_weights(this.weights, variant, task_training(params, this.task), size)
    first = {name: array[:1] for name, array in weights.items()}
    write_json(path, as_std.compare(variant, first, open_sequences(this.task, lengths)))


if __name__ == "__main__":
    run(main)
