"""Write the page: every result beside the paper's."""

from pathlib import Path

from vanishing_variance.claims.judged import read_claims
from vanishing_variance.harness.columns import CSV
from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.frames import read_csv
from vanishing_variance.harness.runs import FIGURES, METRICS, PAPER_TABLES, PLOTS, TABLES
from vanishing_variance.harness.script import Arguments, run
from vanishing_variance.harness.sections import PATH
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.report.figures import NAMES, SECTIONS, folder
from vanishing_variance.report.page import Results, page
from vanishing_variance.report.records import Record
from vanishing_variance.report.strongest import OTHER_RECORDS, RECORD, Study, strongest
from vanishing_variance.report.text import read_svg, read_text


def _record(record: Path) -> Record:
    pictures = {name: record / PLOTS / f"{name}.svg" for name in SECTIONS["curves"]}
    tables = {number: record / "tables" / f"table{number}.csv" for number in PAPER_TABLES}
    return Record(
        study=Study(read_claims(record / "claims.json"), read_yaml(record / PATH)),
        tests=read_csv(record / "tables" / "tests.csv", *CSV["tests"]),
        paper=read_csv(record / "tables" / "paper.csv", *CSV["paper"]),
        tables={number: read_csv(path, *CSV["table"]) for number, path in tables.items() if path.exists()},
        pictures={name: read_svg(path) for name, path in pictures.items() if path.exists()},
    )


def main() -> None:
    Arguments(description=__doc__).parse_args()
    params = read_yaml(PATH)
    records = {name: _record(METRICS / name) for name in (RECORD, *OTHER_RECORDS)}
    results = Results(
        params=params,
        source=read_text(PATH),
        evidence=strongest(Study(read_claims(METRICS / "claims.json"), params), records[RECORD].study),
        tests=read_csv(TABLES / "tests.csv", *CSV["tests"]),
        paper=read_csv(TABLES / "paper.csv", *CSV["paper"]),
        explained=read_csv(METRICS / "explained.csv", *CSV["explained"]),
        interventions=read_csv(METRICS / "interventions" / "shares.csv", *CSV["shares"]),
        tables={number: read_csv(TABLES / f"table{number}.csv", *CSV["table"]) for number in PAPER_TABLES},
        pictures={name: read_svg(FIGURES / folder(name) / f"{name}.svg") for name in NAMES},
        records=records,
    )
    write_text(PLOTS / "report" / "index.html", page(results))


if __name__ == "__main__":
    run(main)
