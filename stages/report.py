"""Write the page: every result beside the paper's."""

from pathlib import Path
from typing import Any

from vanishing_variance.engine.ranges import ranges_of
from vanishing_variance.harness.files import read_document, read_text, write_text
from vanishing_variance.harness.frames import read_csv
from vanishing_variance.harness.paths import FIGURES, METRICS, PLOTS
from vanishing_variance.harness.script import Arguments, run_script
from vanishing_variance.harness.sections import PATH
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.report.page import page, read_figure, require_compared
from vanishing_variance.report.readme import README, points
from vanishing_variance.report.strongest import Results
from vanishing_variance.report.studies import read_paper_scale
from vanishing_variance.results.runs import REFERENCE

# Where DVC notes what each stage was run with.
LOCK = Path("dvc.lock")
PAGE = PLOTS / "report" / "index.html"
# In plots/readme, of the answer.
PICTURES = ("answer", "schedules")
# In plots/figures, in the order of the page.
SHOWN = (
    *("results/parts", "results/parts-long", "results/interventions", "results/accuracy", "results/accuracy-long"),
    *("figure1/figure1", "results/figure2", "results/figure3", "results/figure4"),
    *("results/proposition", "results/loss", "results/loss-long"),
)


def main() -> None:
    Arguments(description=__doc__).parse_args()
    params = read_yaml(PATH)
    require_compared(params, _compared())
    paper_scale, _ = read_paper_scale(params)
    own = Results(read_document(METRICS / "claims.json"), params, read_csv(METRICS / "tables" / "tests.csv"))
    shown = [name for name in SHOWN if "long" in ranges_of(params) or not name.endswith("-long")]
    figures = {
        "run": [read_figure(FIGURES / f"{name}.png", PAGE) for name in shown],
        "paper_scale": [read_figure(PLOTS / "readme" / f"{name}.png", PAGE) for name in ("accuracy", "accuracy-long")],
    }
    pictures = {name: read_figure(PLOTS / "readme" / f"{name}.png", PAGE) for name in PICTURES}
    said = points(read_text(README))
    html = page(pictures, figures, said, own, paper_scale, read_csv(REFERENCE), read_text(PATH))
    write_text(PAGE, html)


def _compared() -> dict[str, Any]:
    """Return the parameters with which DVC last compared results, by key; nothing where it has not."""
    stages = read_yaml(LOCK)["stages"] if LOCK.exists() else {}
    compared: dict[str, Any] = stages.get("compare", {}).get("params", {}).get(PATH.name, {})
    return compared


if __name__ == "__main__":
    run_script(main)
