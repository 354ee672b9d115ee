"""Make the page: every result beside the paper's, and in a side file what differs from run to run."""

from pathlib import Path

from vanishing_variance.columns import CSV
from vanishing_variance.command import Arguments, run
from vanishing_variance.io.claims import read_claims
from vanishing_variance.io.files import write_text
from vanishing_variance.io.frames import read_csv
from vanishing_variance.io.machine import machine
from vanishing_variance.io.text import read_svg, read_text
from vanishing_variance.io.times import read_times
from vanishing_variance.io.yaml import read_yaml
from vanishing_variance.params.base import PATH
from vanishing_variance.params.whole import check
from vanishing_variance.report.figures import NAMES
from vanishing_variance.report.page import Results, page, side
from vanishing_variance.report.strongest import RECORD, Study, strongest
from vanishing_variance.report.versions import pinned
from vanishing_variance.study import METRICS, PLOTS

FOLDER = PLOTS / "report"
CONSTRAINTS = Path("constraints.txt")
PACKAGES = ("torch", "numpy", "scipy", "pandas", "dvc")


def main() -> None:
    Arguments(description=__doc__).parse_args()
    params = read_yaml(PATH)
    check(params)
    record = METRICS / RECORD
    recorded = read_yaml(record / PATH)
    results = Results(
        params=params,
        source=read_text(PATH),
        evidence=strongest(
            Study(read_claims(METRICS / "claims.json"), params), Study(read_claims(record / "claims.json"), recorded)
        ),
        tests=read_csv(METRICS / "tests.csv", *CSV["tests"]),
        paper=read_csv(METRICS / "paper.csv", *CSV["paper"]),
        explained=read_csv(METRICS / "explained.csv", *CSV["explained"]),
        interventions=read_csv(METRICS / "interventions-shares.csv", *CSV["interventions-shares"]),
        pictures={name: read_svg(PLOTS / f"{name}.svg") for name in NAMES},
        recorded=(read_svg(record / PLOTS / "accuracy.svg"), recorded),
        versions=pinned(read_text(CONSTRAINTS), PACKAGES),
    )
    made = page(results)
    write_text(FOLDER / "index.html", made.html)
    # Not an output, so that DVC hashes none of it: it is of this machine and this moment.
    write_text(FOLDER / "run.html", side(made.fingerprint, machine(), read_times()))


if __name__ == "__main__":
    run(main)
