"""Validate params.yaml before anything else runs, and say which network is trained.

With the paper's network the outputs are constant, so a passing check reruns nothing.
"""

from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.paths import NETWORK, RUNS
from vanishing_variance.harness.script import Arguments, run
from vanishing_variance.harness.sections import PATH
from vanishing_variance.harness.yaml import read_yaml, written
from vanishing_variance.params import check
from vanishing_variance.results.runs import TASKS
from vanishing_variance.studies.plan import network_plan


def main() -> None:
    Arguments(description=__doc__).parse_args()
    params = read_yaml(PATH)
    check(params)
    write_text(RUNS / "checked", "params.yaml is valid\n")
    write_text(NETWORK, written(network_plan(params, TASKS)))


if __name__ == "__main__":
    run(main)
