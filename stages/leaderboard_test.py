"""Test the models of one line of the leaderboard at every length, on both tasks."""

from vanishing_variance.engine.seeds import SeedsPerBlock, seeds
from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.frames import write_frame
from vanishing_variance.harness.script import Arguments, run
from vanishing_variance.harness.sections import get_param
from vanishing_variance.leaderboard import files
from vanishing_variance.leaderboard.testing import measure_treatment
from vanishing_variance.leaderboard.treatments import read_params, read_treatment, training_plan
from vanishing_variance.measure.evaluation.config import Fit
from vanishing_variance.measure.evaluation.fit import FitPlan
from vanishing_variance.measure.held_out import Test
from vanishing_variance.measure.inference.stored import open_sequences, read_weights, remove_finished_checkpoints


def main() -> None:
    parser = Arguments(description=__doc__, allow_abbrev=False)
    parser.add_argument("--line", required=True, help="a key of treatments in leaderboard/params.yaml")
    line = parser.parse_args().line
    params = read_params()
    treatment = read_treatment(line)
    block = seeds(0, get_param(params, "seeds_per_block", SeedsPerBlock))
    lengths = get_param(params, "test", Test).lengths
    fitting = get_param(params, "temperature", Fit)
    for task in files.TASKS:
        trained = files.folder("trained", line, task)
        tested = files.folder("tested", line, task)
        if (trained / files.DIVERGED).exists():
            write_text(tested / files.DIVERGED, (trained / files.DIVERGED).read_text())
            continue
        plan = training_plan(params, task, line, treatment)
        weights = read_weights(trained / files.WEIGHTS, plan.variant, plan.task_training, len(block))
        remove_finished_checkpoints(files.folder("checkpoints", line, task), weights)
        sequences = open_sequences(task, lengths)
        fit = FitPlan(f"{line} {task}", plan.root_seed, plan.variant, lengths, fitting.sequences)
        accuracy, attention = measure_treatment(fit, weights, block, sequences)
        write_frame(tested / files.ACCURACY, accuracy)
        write_frame(tested / files.ATTENTION, attention)


if __name__ == "__main__":
    run(main)
