"""Write the page: every result beside the paper's."""

from pathlib import Path

from vanishing_variance.engine.ranges import ranges_of
from vanishing_variance.harness.files import read_document, read_text, write_text
from vanishing_variance.harness.frames import read_csv, tidied
from vanishing_variance.harness.paths import FIGURES, METRICS, PLOTS
from vanishing_variance.harness.script import Arguments, run
from vanishing_variance.harness.sections import PATH
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.report.page import Results, page, read_figure
from vanishing_variance.report.strongest import CLAIMS, OTHER_RECORDS, RECORD, Study
from vanishing_variance.results.answer import read_answer
from vanishing_variance.results.files import TrainingSetup
from vanishing_variance.results.runs import REFERENCE
from vanishing_variance.results.shares import shares

PAGE = PLOTS / "report" / "index.html"
# In plots/figures, in the order of the page.
SHOWN = (
    *("results/interventions", "results/accuracy", "results/accuracy-long"),
    *("figure1/figure1", "results/figure2", "results/figure3", "results/figure4"),
    *("results/proposition", "results/loss", "results/loss-long", "results/mechanism"),
)


def read_results(metrics: Path, params: Path, figures: list[Path]) -> Results:
    return Results(
        study=Study(read_document(metrics / "claims.json", CLAIMS), read_yaml(params)),
        tests=read_csv(metrics / "tables" / "tests.csv"),
        figures=[read_figure(path, PAGE) for path in figures],
    )


def main() -> None:
    Arguments(description=__doc__).parse_args()
    folder = METRICS / RECORD
    figures = sorted((folder / PLOTS).glob("accuracy*.png"), reverse=True)  # accuracy, then accuracy-long
    record = read_results(folder, folder / PATH, figures)
    others = {name: read_document(METRICS / name / "claims.json", CLAIMS) for name in OTHER_RECORDS}
    ranges = ranges_of(read_yaml(PATH))
    shown = [name for name in SHOWN if "long" in ranges or not name.endswith("-long")]
    own = read_results(METRICS, PATH, [FIGURES / f"{name}.png" for name in shown])
    intervened = tidied(read_csv(METRICS / "interventions" / "accuracy.csv"), "accuracy")
    lost = shares(intervened, TrainingSetup.of(read_yaml(PATH)).longest)
    answer = read_figure(PLOTS / "readme" / "answer.png", PAGE)
    means = read_answer(Path())
    html = page(answer, means, own, record, others, lost, read_csv(REFERENCE), read_text(PATH))
    write_text(PAGE, html)


if __name__ == "__main__":
    run(main)
