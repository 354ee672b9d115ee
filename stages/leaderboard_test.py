"""Test the models of one line of the leaderboard at every length, on both tasks."""

import pandas as pd

from vanishing_variance.core import paths
from vanishing_variance.core.config import PATH, get_param
from vanishing_variance.core.frames import write_frame
from vanishing_variance.core.seeds import SeedsPerBlock, seeds
from vanishing_variance.core.stage import Arguments, run
from vanishing_variance.core.yaml import read_yaml
from vanishing_variance.held_out import Test
from vanishing_variance.inference.stored import open_sequences, read_weights, remove_finished_checkpoints
from vanishing_variance.leaderboard import treatment
from vanishing_variance.leaderboard.testing import test_treatment

TASKS = ("argmax", "dictionary")


def main() -> None:
    parser = Arguments(description=__doc__, allow_abbrev=False)
    parser.add_argument("--line", required=True, help="a key of treatments in leaderboard/params.yaml")
    line = parser.parse_args().line
    params, how = read_yaml(PATH), treatment.treatment(read_yaml(treatment.PATH), line)
    block = seeds(0, get_param(params, "seeds_per_block", SeedsPerBlock))
    test: Test = get_param(params, "test", Test)
    for task in TASKS:
        plan = treatment.training_plan(params, task, line, how)
        trained, folder = treatment.folder("trained", line, task), treatment.folder("tested", line, task)
        if (trained / "diverged.json").exists():
            accuracy = pd.DataFrame({"seed": [], "rule": [], "length": [], "accuracy": []})
            attention = pd.DataFrame({"seed": [], "length": [], "target": []})
        else:
            weights = read_weights(trained / "weights.safetensors", plan.variant, plan.schedule, len(block))
            remove_finished_checkpoints(treatment.folder("checkpoints", line, task))
            sequences = {
                length: open_sequences(paths.sequences(task, length), plan.variant.task, length)
                for length in test.lengths
            }
            accuracy, attention = test_treatment(f"{line} {task}", plan.variant, weights, block, sequences)
        write_frame(folder / "accuracy.parquet", accuracy)
        write_frame(folder / "attention.parquet", attention)


if __name__ == "__main__":
    run(main)
