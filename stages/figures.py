"""Draw every figure but Figure 1, and write the training losses, and what DVC draws."""

import pandas as pd

from vanishing_variance.engine.config import Norm
from vanishing_variance.engine.ranges import Range, ranges_of
from vanishing_variance.engine.run import PAPER, Run
from vanishing_variance.engine.seeds import Blocks
from vanishing_variance.figures import interventions, proposition, results
from vanishing_variance.figures.config import Figures
from vanishing_variance.figures.drawing import Drawing, write_figure
from vanishing_variance.harness.frames import read_csv, read_frame, tidied, write_csv
from vanishing_variance.harness.paths import FIGURES, LOSSES, METRICS, PLOT_DATA, PLOTS
from vanishing_variance.harness.script import Arguments, run_script
from vanishing_variance.harness.sections import PATH, get_param
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.results.runs import REFERENCE, lines_of, range_of
from vanishing_variance.results.schema import by_rule
from vanishing_variance.results.shares import shares


def main() -> None:
    Arguments(description=__doc__).parse_args()
    params = read_yaml(PATH)
    network = get_param(params, "network", str)
    norm = get_param(params, "norm", Norm)
    shown = get_param(params, "figures", Figures)
    ranges: dict[str, Range] = {name: get_param(params, f"ranges.{name}", Range) for name in ranges_of(params)}
    longest = {line: ranges[range_of(line)].longest for line in lines_of(norm, ranges_of(params))}

    if network == PAPER:
        block, range_ = get_param(params, "blocks", Blocks)[0], next(iter(ranges))
        pair = [Run(shown.task, one, block, range_, one) for one in ("none", norm)]
        frames = {name: read_tested(pair, name) for name in results.SHOWN}
        write(results.of_inside(frames, shown, norm, ranges[range_]))
        variances, exponents = (read_csv(PLOTS / "proposition" / f"proposition{end}.csv") for end in ("", "-exponents"))
        intervened = tidied(read_csv(METRICS / "interventions" / "accuracy.csv"), "accuracy")
        causes = interventions.draw(shares(intervened, longest), longest["none"])
        write({"proposition": proposition.draw(variances, exponents), "interventions": causes})
    else:
        write(results.of_other_network(network))
    losses, accuracies = read_frame(LOSSES), by_rule(read_csv(METRICS / "results.csv"))
    for name, lengths in ranges.items():
        write(results.of_range(name, lengths, norm, losses, accuracies, read_csv(REFERENCE)))


def read_tested(runs: list[Run], name: str) -> dict[str, pd.DataFrame]:
    """Return a frame of the test of each run, by normaliser."""
    return {one.norm: read_frame(one.folder("tested") / f"{name}.parquet") for one in runs}


def write(drawn: results.Drawn) -> None:
    """Write figures, and their data."""
    for name, content in drawn.items():
        if isinstance(content, Drawing):
            write_figure(FIGURES / "results" / name, content)
        else:
            write_csv(PLOT_DATA / name, content)


if __name__ == "__main__":
    run_script(main)
