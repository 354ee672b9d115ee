"""Check Proposition 1 inside the first model of the first block, of both tasks, without and with the treatment."""

from math import prod

import pandas as pd

from vanishing_variance.engine.config import Norm
from vanishing_variance.engine.seeds import Blocks, Index, SeedsPerBlock
from vanishing_variance.engine.variant import Variant, task_training
from vanishing_variance.harness.files import write_json
from vanishing_variance.harness.frames import write_csv
from vanishing_variance.harness.memory import require_memory
from vanishing_variance.harness.paths import METRICS, NETWORK, PAPER, PLOTS, Run
from vanishing_variance.harness.script import Arguments, run
from vanishing_variance.harness.sections import PATH, get_param
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.measure.inference.stored import read_weights
from vanishing_variance.measure.proposition.config import Proposition
from vanishing_variance.measure.proposition.measurement import measure
from vanishing_variance.measure.proposition.summary import COLUMNS, exponents, summary
from vanishing_variance.results.runs import TASKS


def main() -> None:
    Arguments(description=__doc__).parse_args()
    params = read_yaml(PATH)
    if read_yaml(NETWORK)["network"] != PAPER:  # of another one nothing is measured
        write_csv(PLOTS / "proposition" / "proposition-exponents.csv", pd.DataFrame(columns=COLUMNS))
        write_json(METRICS / "proposition.json", {})
        return
    norm, blocks = get_param(params, "norm", Norm), get_param(params, "blocks", Blocks)
    how: Proposition = get_param(params, "proposition", Proposition)
    root: int = get_param(params, "seed", Index)
    seeds = get_param(params, "seeds_per_block", SeedsPerBlock)
    training = {task: task_training(params, task) for task in TASKS}
    attention = get_param(params, "attention", str)
    variants = [Variant.of(params, task, one, attention) for task in TASKS for one in ("none", norm)]
    grows_with = {"proposition.lengths": how.lengths[-1], "model.width": variants[0].model.width}
    require_memory(prod(grows_with.values()), grows_with)
    trained = []
    for variant in variants:
        first = Run(variant.task_name, "short", variant.norm_name, blocks[0], attention)
        weights = read_weights(first.weights, variant, training[variant.task_name], seeds)
        trained.append((variant, weights))
    cells = measure(trained, how, root)
    laws = exponents(cells, how.tail)
    write_csv(PLOTS / "proposition" / "proposition.csv", cells)
    write_csv(PLOTS / "proposition" / "proposition-exponents.csv", laws)
    write_json(METRICS / "proposition.json", summary(cells, laws, norm))


if __name__ == "__main__":
    run(main)
