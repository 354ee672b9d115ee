"""Table what the attention maps of the leaderboard's lines learned."""

from vanishing_variance.engine.seeds import SeedsPerBlock
from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.frames import write_csv
from vanishing_variance.harness.runs import METRICS
from vanishing_variance.harness.script import Arguments, run
from vanishing_variance.harness.sections import get_param
from vanishing_variance.leaderboard import files
from vanishing_variance.leaderboard.learned import learned, markdown
from vanishing_variance.leaderboard.treatments import read_params, read_treatments, training_plan
from vanishing_variance.measure.inference.stored import read_weights

FOLDER = METRICS / "leaderboard"


def main() -> None:
    Arguments(description=__doc__).parse_args()
    params = read_params()
    seeds = get_param(params, "seeds_per_block", SeedsPerBlock)
    weights = {}
    for line, treatment in read_treatments().items():
        for task in files.TASKS:
            folder = files.trained(line, task)
            if not (folder / files.DIVERGED).exists():
                plan = training_plan(params, task, line, treatment)
                weights[line, task] = read_weights(folder / files.WEIGHTS, plan.variant, plan.task_training, seeds)
    found = learned(weights)
    write_csv(FOLDER / "learned.csv", found)
    write_text(FOLDER / "learned.md", markdown(found))


if __name__ == "__main__":
    run(main)
