"""Write what other rules would have chosen among the protocols, from studies/protocols; not a stage of the graph."""

from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.frames import read_csv
from vanishing_variance.harness.script import Arguments, run
from vanishing_variance.results.runs import REFERENCE
from vanishing_variance.studies.choice import markdown
from vanishing_variance.studies.plan import STUDIES

FOLDER = STUDIES / "protocols"


def main() -> None:
    Arguments(description=__doc__).parse_args()
    results = read_csv(FOLDER / "protocols.csv")
    write_text(FOLDER / "choice.md", markdown(results, read_csv(REFERENCE)))


if __name__ == "__main__":
    run(main)
