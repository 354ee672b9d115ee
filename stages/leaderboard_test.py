"""Test the models of one line of the leaderboard at every length, on both tasks."""

import pandas as pd

from vanishing_variance.engine.seeds import SeedsPerBlock, seeds
from vanishing_variance.harness import paths
from vanishing_variance.harness.frames import write_frame
from vanishing_variance.harness.memory import require_memory
from vanishing_variance.harness.script import Arguments, run
from vanishing_variance.harness.sections import get_param
from vanishing_variance.leaderboard import files
from vanishing_variance.leaderboard.testing import measure_treatment
from vanishing_variance.leaderboard.treatments import read_params, read_treatment, training_plan
from vanishing_variance.measure.evaluation.config import Fit
from vanishing_variance.measure.evaluation.fit import FitPlan
from vanishing_variance.measure.evaluation.fit_memory import memory_needed
from vanishing_variance.measure.held_out import Test
from vanishing_variance.measure.inference.stored import open_sequences, read_weights, remove_finished_checkpoints


def main() -> None:
    parser = Arguments(description=__doc__, allow_abbrev=False)
    parser.add_argument("--line", required=True, help="a key of treatments in leaderboard/params.yaml")
    line = parser.parse_args().line
    params, treatment = read_params(), read_treatment(line)
    block = seeds(0, get_param(params, "seeds_per_block", SeedsPerBlock))
    test: Test = get_param(params, "test", Test)
    fitting: Fit = get_param(params, "temperature", Fit)
    for task in files.TASKS:
        plan = training_plan(params, task, line, treatment)
        trained, folder = files.trained(line, task), files.tested(line, task)
        if (trained / files.DIVERGED).exists():
            accuracy, attention = pd.DataFrame(columns=files.ACCURACY), pd.DataFrame(columns=files.ATTENTION)
        else:
            weights = read_weights(trained / files.WEIGHTS, plan.variant, plan.task_training, len(block))
            remove_finished_checkpoints(files.checkpoints(line, task), weights)
            sequences = {
                length: open_sequences(paths.sequences(task, length), plan.variant.task, length)
                for length in test.lengths
            }
            fit = FitPlan(f"{line} {task}", plan.root_seed, plan.variant, test.lengths, fitting.sequences)
            with require_memory(memory_needed(fit, plan.task_training, len(block))):
                accuracy, attention = measure_treatment(fit, weights, block, sequences)
        write_frame(folder / "accuracy.parquet", accuracy)
        write_frame(folder / "attention.parquet", attention)


if __name__ == "__main__":
    run(main)
