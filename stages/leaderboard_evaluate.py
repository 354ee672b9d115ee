"""Test the models of one line of the leaderboard at every length, on both tasks."""

from stages.evaluate import evaluate
from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.runs import TASKS
from vanishing_variance.harness.script import Arguments, run
from vanishing_variance.leaderboard.files import DIVERGED
from vanishing_variance.leaderboard.treatments import line_params, line_run, read_params, read_treatment


def main() -> None:
    parser = Arguments(description=__doc__, allow_abbrev=False)
    parser.add_argument("--line", required=True, help="a key of treatments in leaderboard/params.yaml")
    line = parser.parse_args().line
    treatment = read_treatment(line)
    params = line_params(read_params(), treatment)
    for task in TASKS:
        this = line_run(line, treatment, task)
        diverged = this.folder("trained") / DIVERGED
        if diverged.exists():
            write_text(this.folder("evaluated") / DIVERGED, diverged.read_text())
        else:
            evaluate(params, this)


if __name__ == "__main__":
    run(main)
