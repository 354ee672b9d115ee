"""Write the README's table and picture, and the page's, of the studies `paper-scale` and `fresh`; not a stage."""

from pathlib import Path

from vanishing_variance.engine.ranges import Range
from vanishing_variance.figures.answer import draw
from vanishing_variance.figures.drawing import write_figure
from vanishing_variance.harness.files import read_document, read_text, write_text
from vanishing_variance.harness.paths import METRICS, PLOTS
from vanishing_variance.harness.script import Arguments, run
from vanishing_variance.harness.sections import PATH, get_param
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.report.pictures import accuracies
from vanishing_variance.report.readme import block, rewritten
from vanishing_variance.report.strongest import CLAIMS, Judged, strongest
from vanishing_variance.report.studies import read_answer, read_compared, read_judged

README = Path("README.md")


def main() -> None:
    Arguments(description=__doc__).parse_args()
    params = read_yaml(PATH)
    ours = Judged(read_document(METRICS / "claims.json", CLAIMS), params)
    paper_scale = read_judged(params)
    claims = [evidence.claim for evidence in strongest(ours, paper_scale).values()]
    lengths = get_param(paper_scale.params, "ranges.short", Range)
    means = read_answer(params)
    text = rewritten(read_text(README), block(means, claims))
    write_figure(PLOTS / "readme" / "answer", draw(means, (lengths.shortest, lengths.longest)))
    for stem, drawing in accuracies(read_compared(params)):
        write_figure(PLOTS / "readme" / stem, drawing)
    write_text(README, text)


if __name__ == "__main__":
    run(main)
