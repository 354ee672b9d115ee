"""Train one block of seeds of one variant, as an ensemble (Section 3, B.1, B.2)."""

from vanishing_variance.core.arguments import block_of_variant
from vanishing_variance.core.arrays import write_arrays
from vanishing_variance.core.config import PATH, get_param
from vanishing_variance.core.frames import write_frame
from vanishing_variance.core.memory import require_memory
from vanishing_variance.core.seeds import SeedsPerBlock, seeds
from vanishing_variance.core.stage import run
from vanishing_variance.core.yaml import read_yaml
from vanishing_variance.training.ensemble import train_block
from vanishing_variance.training.memory import memory_needed
from vanishing_variance.training.plan import TrainingPlan


def main() -> None:
    this = block_of_variant(__doc__)
    params = read_yaml(PATH)
    plan = TrainingPlan.of(params, this)
    block = seeds(this.block, get_param(params, "seeds_per_block", SeedsPerBlock))
    with require_memory(memory_needed(plan, block)):
        weights, losses = train_block(plan, block, this.folder("checkpoints"))
        write_arrays(this.weights, weights)
        write_frame(this.losses, losses)


if __name__ == "__main__":
    run(main)
