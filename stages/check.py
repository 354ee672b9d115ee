"""Validate params.yaml before anything else runs. The output is constant, so passing reruns nothing."""

from vanishing_variance.command import Arguments, run
from vanishing_variance.io.files import write_text
from vanishing_variance.io.yaml import read_yaml
from vanishing_variance.params.base import PATH
from vanishing_variance.params.whole import check
from vanishing_variance.paths import RUNS


def main() -> None:
    Arguments(description=__doc__).parse_args()
    check(read_yaml(PATH))
    write_text(RUNS / "checked", "params.yaml is valid\n")


if __name__ == "__main__":
    run(main)
