"""Validate params.yaml before anything else runs. The output is constant, so a passing check reruns nothing."""

from vanishing_variance.core.config import PATH
from vanishing_variance.core.files import write_text
from vanishing_variance.core.paths import RUNS
from vanishing_variance.core.stage import Arguments, run
from vanishing_variance.core.yaml import read_yaml
from vanishing_variance.parameters import check


def main() -> None:
    Arguments(description=__doc__).parse_args()
    check(read_yaml(PATH))
    write_text(RUNS / "checked", "params.yaml is valid\n")


if __name__ == "__main__":
    run(main)
