"""Draw the test sequences of one task, a file a length, the same for every seed and variant (Section 3, B.1)."""

from vanishing_variance.engine import registry
from vanishing_variance.engine.drawing import sample
from vanishing_variance.engine.seeds import Index
from vanishing_variance.harness import paths
from vanishing_variance.harness.arrays import write_arrays
from vanishing_variance.harness.memory import require_memory
from vanishing_variance.harness.script import Arguments, run_script
from vanishing_variance.harness.sections import PATH, get_param
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.measure.held_out import Test, held_out_stream

# Two numbers in 64 bits an item, and as much again while they are drawn.
VALUES_PER_ITEM = 8


def main() -> None:
    parser = Arguments(description=__doc__, allow_abbrev=False)
    parser.add_argument("--task", required=True)
    name = parser.parse_args().task
    params = read_yaml(PATH)
    root: int = get_param(params, "seed", Index)
    test: Test = get_param(params, "test", Test)
    task = registry.task_of(params, name)
    grows_with = {"test.sequences": test.sequences, "test.lengths": test.lengths[-1]}
    require_memory(VALUES_PER_ITEM * test.sequences * test.lengths[-1], grows_with)
    for length in test.lengths:
        drawn = sample(task, held_out_stream(root, name, length), test.sequences, length)
        write_arrays(paths.sequences(name, length), drawn)


if __name__ == "__main__":
    run_script(main)
