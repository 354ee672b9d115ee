"""Write the verdicts into README.md, docs/verdicts.md and docs/results.md, from results; not a stage of the graph."""

from pathlib import Path

from vanishing_variance.claims.judged import read_claims
from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.runs import METRICS
from vanishing_variance.harness.script import Arguments, run
from vanishing_variance.harness.sections import PATH
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.report.readme import rewritten, table
from vanishing_variance.report.results import results_page
from vanishing_variance.report.strongest import RECORD, Study, strongest
from vanishing_variance.report.text import read_text

README, VERDICTS, RESULTS = Path("README.md"), Path("docs/verdicts.md"), Path("docs/results.md")


def main() -> None:
    Arguments(description=__doc__).parse_args()
    record = METRICS / RECORD
    ours, kept = (
        Study(read_claims(folder / "claims.json"), read_yaml(path))
        for folder, path in ((METRICS, PATH), (record, record / PATH))
    )
    evidence = strongest(ours, kept)
    pages = {
        README: rewritten(read_text(README), evidence),
        VERDICTS: table(evidence.values()),
        RESULTS: results_page(lambda name: read_text(Path(name))),
    }
    for path, page in pages.items():  # once all can be written
        write_text(path, page)


if __name__ == "__main__":
    run(main)
