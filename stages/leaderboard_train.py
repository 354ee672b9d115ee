"""Train the models of one line of the leaderboard on both tasks."""

from vanishing_variance.engine.ensemble import train_block
from vanishing_variance.engine.seeds import SeedsPerBlock, seeds
from vanishing_variance.harness.arrays import write_arrays
from vanishing_variance.harness.errors import DivergedError
from vanishing_variance.harness.files import write_json
from vanishing_variance.harness.frames import write_frame
from vanishing_variance.harness.script import Arguments, run
from vanishing_variance.harness.sections import get_param
from vanishing_variance.leaderboard import files
from vanishing_variance.leaderboard.treatments import read_params, read_treatment, training_plan


def main() -> None:
    parser = Arguments(description=__doc__, allow_abbrev=False)
    parser.add_argument("--line", required=True, help="a key of treatments in leaderboard/params.yaml")
    line = parser.parse_args().line
    params = read_params()
    treatment = read_treatment(line)
    block = seeds(0, get_param(params, "seeds_per_block", SeedsPerBlock))
    for task in files.TASKS:
        folder = files.folder("trained", line, task)
        plan = training_plan(params, task, line, treatment)
        try:
            weights, losses = train_block(plan, block, files.folder("checkpoints", line, task))
        except DivergedError as problem:  # a result, which the leaderboard shows
            write_json(folder / files.DIVERGED, {"said": str(problem)})
            continue
        write_arrays(folder / files.WEIGHTS, weights)
        write_frame(folder / files.LOSSES, losses)


if __name__ == "__main__":
    run(main)
