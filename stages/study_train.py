"""Train one block of seeds of a line of a study on one task."""

from stages.train import train
from vanishing_variance.harness.errors import DivergedError
from vanishing_variance.harness.files import write_json
from vanishing_variance.harness.script import run_script
from vanishing_variance.studies.arguments import planned_run
from vanishing_variance.studies.line import DIVERGED


def main() -> None:
    plan, this = planned_run(__doc__, "train")
    (this.folder("trained") / DIVERGED).unlink(missing_ok=True)  # of another training, where DVC has not cleared it
    try:
        train(plan, this)
    except DivergedError as problem:  # a result, which the board shows
        write_json(this.folder("trained") / DIVERGED, {"said": str(problem)})


if __name__ == "__main__":
    run_script(main)
