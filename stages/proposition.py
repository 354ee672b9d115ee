"""Check Proposition 1 inside the first model of the first block, of both tasks, without and with the treatment."""

from vanishing_variance import registry, tasks
from vanishing_variance.command import Arguments, run
from vanishing_variance.io.files import write_json
from vanishing_variance.io.frames import write_csv
from vanishing_variance.io.stored import read_weights
from vanishing_variance.io.yaml import read_yaml
from vanishing_variance.memory.enough import enough
from vanishing_variance.model.variant import Variant
from vanishing_variance.params.base import PATH, take
from vanishing_variance.params.experiment import Model
from vanishing_variance.params.norm import Norm
from vanishing_variance.params.seeds import Blocks, Index, SeedsPerBlock
from vanishing_variance.paths import Run
from vanishing_variance.proposition.config import Proposition
from vanishing_variance.proposition.measurement import Trained, measure
from vanishing_variance.proposition.memory import proposition
from vanishing_variance.proposition.summary import exponents, summary
from vanishing_variance.study import METRICS, PLOTS, TASKS


def main() -> None:
    Arguments(description=__doc__).parse_args()
    params = read_yaml(PATH)
    norm, blocks = take(params, "norm", Norm), take(params, "blocks", Blocks)
    model: Model = take(params, "model", Model)
    how: Proposition = take(params, "proposition", Proposition)
    root: int = take(params, "seed", Index)
    seeds = take(params, "seeds_per_block", SeedsPerBlock)
    data = {task: take(params, f"tasks.{task}.data", registry.load(tasks, task).TASK) for task in TASKS}
    training = {task: take(params, f"tasks.{task}.training", registry.load(tasks, task).TRAINING) for task in TASKS}
    variants = [Variant(task, one, data[task], model) for task in TASKS for one in ("none", norm)]
    with enough(proposition([(variant, training[variant.task_name]) for variant in variants], how, seeds)):
        trained = []
        for variant in variants:
            first = Run(variant.task_name, "short", variant.norm_name, blocks[0])
            stored = first.path("weights", ".safetensors")
            trained.append(Trained(variant, read_weights(stored, variant, training[variant.task_name], seeds)))
        cells = measure(trained, how, root)
        laws = exponents(cells, how.tail)
        write_csv(PLOTS / "proposition.csv", cells)
        write_csv(PLOTS / "proposition-exponents.csv", laws)
        write_json(METRICS / "proposition.json", summary(cells, laws, norm))


if __name__ == "__main__":
    run(main)
