"""Write the plan of a study and check it, before DVC runs it: `make study NAME=<study>`."""

from vanishing_variance.harness.script import Arguments, run_script
from vanishing_variance.harness.sections import PATH
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.studies.plan import write_plan
from vanishing_variance.studies.reading import check_kept


def main() -> None:
    """Plan the study that the argument names. Raises InputError."""
    parser = Arguments(description=__doc__)
    parser.add_argument("study", help="a folder of studies")
    name = parser.parse_args().study
    write_plan(name)
    check_kept(name, read_yaml(PATH))


if __name__ == "__main__":
    run_script(main)
