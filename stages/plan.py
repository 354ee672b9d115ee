"""Check a study of studies/, and write what each of its lines is trained and tested with."""

from vanishing_variance.harness.script import Arguments, run_script
from vanishing_variance.studies.plan import write_plan


def main() -> None:
    parser = Arguments(description=__doc__)
    parser.add_argument("study", help="a folder of studies")
    write_plan(parser.parse_args().study)


if __name__ == "__main__":
    run_script(main)
