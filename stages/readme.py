"""Write the table of verdicts into README.md, from results; not a stage of the graph."""

from pathlib import Path

from vanishing_variance.harness.files import read_document, read_text, write_text
from vanishing_variance.harness.runs import METRICS
from vanishing_variance.harness.script import Arguments, run
from vanishing_variance.harness.sections import PATH
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.report.readme import rewritten
from vanishing_variance.report.strongest import CLAIMS, RECORD, Study, strongest

README = Path("README.md")


def main() -> None:
    Arguments(description=__doc__).parse_args()
    record = METRICS / RECORD
    ours = Study(read_document(METRICS / "claims.json", CLAIMS), read_yaml(PATH))
    recorded = Study(read_document(record / "claims.json", CLAIMS), read_yaml(record / PATH))
    evidence = strongest(ours, recorded)
    text = rewritten(read_text(README), evidence)
    write_text(README, text)


if __name__ == "__main__":
    run(main)
