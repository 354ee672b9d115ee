"""Draw Figure 1, and fit its power laws: a table of all of them, and metrics of each layer's."""

from vanishing_variance.figures import figure1
from vanishing_variance.figures.drawing import write_figure
from vanishing_variance.harness.files import write_json
from vanishing_variance.harness.frames import read_csv, tidied, write_csv
from vanishing_variance.harness.paths import FIGURES, METRICS, PLOTS
from vanishing_variance.harness.script import Arguments, run_script
from vanishing_variance.probe.fits import ONE, POOLED, fits, pooled, summary
from vanishing_variance.results.columns import rounded

FOLDER = FIGURES / "figure1"


def main() -> None:
    Arguments(description=__doc__).parse_args()
    deviations = tidied(read_csv(PLOTS / "figure1.csv"), "deviation")
    laws = fits(pooled(deviations), POOLED)
    of_features = fits(deviations, ONE)
    of_features["model"] = deviations["model"].iloc[0]
    write_csv(FOLDER / "figure1-fits.csv", rounded(of_features.drop(columns="scale")))
    write_json(METRICS / "probe.json", summary(laws))
    write_figure(FOLDER / "figure1", figure1.draw(deviations, laws))


if __name__ == "__main__":
    run_script(main)
