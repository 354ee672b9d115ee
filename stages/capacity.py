"""Write a trained ln model of each task as a std model, and count where the two answer otherwise (Section 3.2)."""

from functools import partial

from vanishing_variance.engine.seeds import Blocks, SeedsPerBlock
from vanishing_variance.engine.variant import Variant, task_training
from vanishing_variance.harness.files import write_json
from vanishing_variance.harness.memory import require_memory
from vanishing_variance.harness.paths import Run, sequences
from vanishing_variance.harness.runs import METRICS, TASKS
from vanishing_variance.harness.script import Arguments, run
from vanishing_variance.harness.sections import PATH, get_param
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.measure.held_out import Test
from vanishing_variance.measure.inference.stored import open_sequences, read_weights
from vanishing_variance.measure.interventions.as_std import compare
from vanishing_variance.measure.interventions.as_std_memory import memory_needed


def main() -> None:
    Arguments(description=__doc__).parse_args()
    params = read_yaml(PATH)
    test: Test = get_param(params, "test", Test)
    blocks = get_param(params, "blocks", Blocks)
    seeds = get_param(params, "seeds_per_block", SeedsPerBlock)
    training = {task: task_training(params, task) for task in TASKS}
    variants = {task: Variant.of(params, task, "ln") for task in TASKS}
    compared = {}
    with require_memory(memory_needed([(variants[task], training[task]) for task in TASKS], test, seeds)):
        for task, variant in variants.items():
            first = Run(task, "short", "ln", blocks[0])
            weights = read_weights(first.weights, variant, training[task], seeds)
            read = {length: open_sequences(sequences(task, length), variant.task, length) for length in test.lengths}
            compared[task] = partial(compare, variant, {name: array[:1] for name, array in weights.items()}, read)
        write_json(METRICS / "capacity.json", {task: work() for task, work in compared.items()})


if __name__ == "__main__":
    run(main)
