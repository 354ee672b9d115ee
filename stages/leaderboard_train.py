"""Train the models of one line of the leaderboard on both tasks."""

from vanishing_variance.core.arrays import write_arrays
from vanishing_variance.core.config import PATH, get_param
from vanishing_variance.core.errors import DivergedError
from vanishing_variance.core.files import write_json
from vanishing_variance.core.frames import write_frame
from vanishing_variance.core.memory import require_memory
from vanishing_variance.core.seeds import SeedsPerBlock, seeds
from vanishing_variance.core.stage import Arguments, run
from vanishing_variance.core.yaml import read_yaml
from vanishing_variance.leaderboard import treatment
from vanishing_variance.training.ensemble import train_block
from vanishing_variance.training.memory import memory_needed

TASKS = ("argmax", "dictionary")


def main() -> None:
    parser = Arguments(description=__doc__, allow_abbrev=False)
    parser.add_argument("--line", required=True, help="a key of treatments in leaderboard/params.yaml")
    line = parser.parse_args().line
    params, how = read_yaml(PATH), treatment.treatment(read_yaml(treatment.PATH), line)
    block = seeds(0, get_param(params, "seeds_per_block", SeedsPerBlock))
    plans = {task: treatment.training_plan(params, task, line, how) for task in TASKS}
    for task, plan in plans.items():
        folder = treatment.folder("trained", line, task)
        with require_memory(memory_needed(plan, block)):
            try:
                weights, losses = train_block(plan, block, treatment.folder("checkpoints", line, task))
            except DivergedError as problem:  # a result, which the leaderboard shows
                write_json(folder / "diverged.json", {"said": str(problem)})
            else:
                write_arrays(folder / "weights.safetensors", weights)
                write_frame(folder / "losses.parquet", losses)


if __name__ == "__main__":
    run(main)
