"""Write the page: every result beside the paper's; what differs from run to run is in run.html beside it."""

from pathlib import Path

from vanishing_variance.core.config import PATH
from vanishing_variance.core.files import write_text
from vanishing_variance.core.frames import read_csv
from vanishing_variance.core.stage import Arguments, run
from vanishing_variance.core.yaml import read_yaml
from vanishing_variance.report.figures import NAMES, SECTIONS
from vanishing_variance.report.machine import machine
from vanishing_variance.report.page import Record, Results, page, side
from vanishing_variance.report.records import Recorded
from vanishing_variance.report.strongest import OTHER_RECORDS, RECORD, Study, strongest
from vanishing_variance.report.text import read_svg, read_text
from vanishing_variance.report.times import read_times
from vanishing_variance.study.columns import CSV
from vanishing_variance.study.judged import read_claims
from vanishing_variance.study.runs import FIGURES, METRICS, PAPER_TABLES, PLOTS, TABLES

FOLDER = PLOTS / "report"


def _folder(name: str) -> Path:
    return FIGURES / (name if name in ("figure1", "interventions", "mechanism") else "results")


def _recorded(record: Path) -> Recorded:
    study = Study(read_claims(record / "claims.json"), read_yaml(record / PATH))
    return Recorded(study, read_csv(record / "tables" / "paper.csv", *CSV["paper"]))


def main() -> None:
    Arguments(description=__doc__).parse_args()
    params = read_yaml(PATH)
    record = METRICS / RECORD
    kept = {name: _recorded(METRICS / name) for name in (RECORD, *OTHER_RECORDS)}
    recorded = kept[RECORD].study
    drawn = [record / PLOTS / f"{name}.svg" for name in SECTIONS["curves"]]
    results = Results(
        params=params,
        source=read_text(PATH),
        evidence=strongest(Study(read_claims(METRICS / "claims.json"), params), recorded),
        tests=read_csv(TABLES / "tests.csv", *CSV["tests"]),
        paper=read_csv(TABLES / "paper.csv", *CSV["paper"]),
        explained=read_csv(METRICS / "explained.csv", *CSV["explained"]),
        interventions=read_csv(METRICS / "interventions" / "shares.csv", *CSV["shares"]),
        tables={number: read_csv(TABLES / f"table{number}.csv", *CSV["table"]) for number in PAPER_TABLES},
        pictures={name: read_svg(_folder(name) / f"{name}.svg") for name in NAMES},
        record=Record(
            params=recorded.params,
            tests=read_csv(record / "tables" / "tests.csv", *CSV["tests"]),
            paper=kept[RECORD].paper,
            pictures=[read_svg(path) for path in drawn if path.exists()],
        ),
        records=kept,
    )
    made = page(results)
    write_text(FOLDER / "index.html", made.html)
    # Not an output, so that DVC hashes none of it: it is of this machine and this moment.
    write_text(FOLDER / "run.html", side(made.fingerprint, machine(), read_times()))


if __name__ == "__main__":
    run(main)
