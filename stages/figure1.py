"""Draw Figure 1, and fit its power laws: a table of all of them, and metrics of each layer's."""

from vanishing_variance.columns import CSV
from vanishing_variance.command import Arguments, run
from vanishing_variance.figures import figure1
from vanishing_variance.io.files import write_json
from vanishing_variance.io.frames import read_csv, write_csv
from vanishing_variance.io.images import write_figure
from vanishing_variance.probe.fits import ONE, POOLED, fits, pooled, summary
from vanishing_variance.study import METRICS, PLOTS


def main() -> None:
    Arguments(description=__doc__).parse_args()
    deviations = read_csv(PLOTS / "figure1.csv", *CSV["figure1"])
    laws = fits(pooled(deviations), POOLED)
    write_csv(PLOTS / "figure1-fits.csv", fits(deviations, ONE))
    write_json(METRICS / "probe.json", summary(laws))
    write_figure(PLOTS / "figure1", figure1.draw(deviations, laws))


if __name__ == "__main__":
    run(main)
