"""Shares of the lost accuracy that interventions recover or reproduce: tables and a figure."""

from vanishing_variance.engine.ranges import Range
from vanishing_variance.figures.images import write_figure
from vanishing_variance.figures.interventions import draw
from vanishing_variance.harness.columns import PARQUET
from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.frames import read_frame, write_csv
from vanishing_variance.harness.norm import Norm
from vanishing_variance.harness.runs import FIGURES, INTERVENTIONS, METRICS, RANGES, TASKS
from vanishing_variance.harness.script import Arguments, run
from vanishing_variance.harness.sections import PATH, get_param
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.measure.interventions.readings import read_out
from vanishing_variance.results.shares import gain, shares
from vanishing_variance.results.shares_table import markdown

FOLDER = METRICS / "interventions"


def main() -> None:
    Arguments(description=__doc__).parse_args()
    params = read_yaml(PATH)
    norm = get_param(params, "norm", Norm)
    longest = {name: get_param(params, f"ranges.{name}", Range).longest for name in RANGES}
    accuracy, counts = (
        read_frame(INTERVENTIONS / f"{name}.parquet", *PARQUET[columns])
        for name, columns in (("accuracy", "interventions"), ("counts", "counts"))
    )
    of_loss, read = shares(accuracy, longest), read_out(counts)
    pairs = [(task, name, norm if name == "long" else "ln") for task in TASKS for name in RANGES]
    gains = {pair: parts for pair in pairs if (parts := gain(accuracy, *pair, longest[pair[1]]))}
    write_csv(FOLDER / "shares.csv", of_loss)
    write_csv(FOLDER / "read-out.csv", read)
    write_text(FOLDER / "interventions.md", markdown(of_loss, gains, read))
    write_figure(FIGURES / "interventions" / "interventions", draw(of_loss, longest["short"]))


if __name__ == "__main__":
    run(main)
