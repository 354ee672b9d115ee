"""Validate params.yaml before anything else runs. The output is constant, so a passing check reruns nothing."""

from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.paths import RUNS
from vanishing_variance.harness.script import Arguments, run
from vanishing_variance.harness.sections import PATH
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.params import check


def main() -> None:
    Arguments(description=__doc__).parse_args()
    check(read_yaml(PATH))
    write_text(RUNS / "checked", "params.yaml is valid\n")


if __name__ == "__main__":
    run(main)
