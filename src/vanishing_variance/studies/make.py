"""Plan a study, train what is missing, test and compare: `make study NAME=<study>`."""

import sys

from vanishing_variance.harness.command import call
from vanishing_variance.harness.locks import exclusive_lock
from vanishing_variance.harness.script import Arguments, run_script
from vanishing_variance.harness.sections import PATH
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.studies.line import STUDIES
from vanishing_variance.studies.plan import write_plan
from vanishing_variance.studies.reading import check_kept


def main() -> None:
    """Make the study that the argument names."""
    parser = Arguments(description=__doc__)
    parser.add_argument("study", help="a folder of studies")
    name = parser.parse_args().study
    with exclusive_lock("make study"):  # whichever: two of DVC's do not work in one folder
        make(name)


def make(name: str) -> None:
    """Run DVC, and exit as it does where it fails. Raises InputError."""
    write_plan(name)
    check_kept(name, read_yaml(PATH))
    graph = str(STUDIES / name / "dvc.yaml")
    code = call([sys.executable, "-m", "dvc", "repro", "--keep-going", "--allow-missing", graph])
    if code:
        sys.exit(code)


if __name__ == "__main__":
    run_script(main)
