"""Train the models of one line of the leaderboard on both tasks."""

from stages.train import train
from vanishing_variance.harness.errors import DivergedError
from vanishing_variance.harness.files import write_json
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
        try:
            train(params, this)
        except DivergedError as problem:  # a result, which the leaderboard shows
            write_json(this.folder("trained") / DIVERGED, {"said": str(problem)})


if __name__ == "__main__":
    run(main)
