"""Remove what other settings left in runs/, and empty folders; not a stage of the graph."""

from vanishing_variance.engine.config import Norm
from vanishing_variance.engine.ranges import ranges_of
from vanishing_variance.engine.seeds import Blocks
from vanishing_variance.harness.leftovers import remove_empty, remove_others
from vanishing_variance.harness.paths import DATA, RUNS
from vanishing_variance.harness.script import Arguments, run
from vanishing_variance.harness.sections import PATH, get_param
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.results.runs import expected, gathered


def main() -> None:
    Arguments(description=__doc__).parse_args()
    params = read_yaml(PATH)
    norm, blocks = get_param(params, "norm", Norm), get_param(params, "blocks", Blocks)
    remove_others(gathered(expected(norm, blocks, ranges_of(params), get_param(params, "attention", str))))
    remove_empty(RUNS)
    remove_empty(DATA)


if __name__ == "__main__":
    run(main)
