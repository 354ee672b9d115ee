"""Write a trained ln model of each task as a std model, and count where the two answer otherwise (Section 3.2)."""

from functools import partial

from vanishing_variance import registry, tasks
from vanishing_variance.capacity.comparison import compare
from vanishing_variance.capacity.memory import capacity
from vanishing_variance.command import Arguments, run
from vanishing_variance.io.files import write_json
from vanishing_variance.io.stored import open_sequences, read_weights
from vanishing_variance.io.yaml import read_yaml
from vanishing_variance.memory.enough import enough
from vanishing_variance.model.variant import Variant
from vanishing_variance.params.base import PATH, take
from vanishing_variance.params.experiment import Model
from vanishing_variance.params.seeds import Blocks, SeedsPerBlock
from vanishing_variance.params.test import Test
from vanishing_variance.paths import Run, sequences
from vanishing_variance.study import METRICS, TASKS


def main() -> None:
    Arguments(description=__doc__).parse_args()
    params = read_yaml(PATH)
    test: Test = take(params, "test", Test)
    blocks = take(params, "blocks", Blocks)
    model: Model = take(params, "model", Model)
    seeds = take(params, "seeds_per_block", SeedsPerBlock)
    data = {task: take(params, f"tasks.{task}.data", registry.load(tasks, task).TASK) for task in TASKS}
    training = {task: take(params, f"tasks.{task}.training", registry.load(tasks, task).TRAINING) for task in TASKS}
    variants = {task: Variant(task, "ln", data[task], model) for task in TASKS}
    compared = {}
    with enough(capacity([(variants[task], training[task]) for task in TASKS], test, seeds)):
        for task, variant in variants.items():
            first = Run(task, "short", "ln", blocks[0])
            weights = read_weights(first.path("weights", ".safetensors"), variant, training[task], seeds)
            read = {length: open_sequences(sequences(task, length), data[task], length) for length in test.lengths}
            compared[task] = partial(compare, variant, {name: array[:1] for name, array in weights.items()}, read)
        write_json(METRICS / "capacity.json", {task: work() for task, work in compared.items()})


if __name__ == "__main__":
    run(main)
