"""Draw the test sequences of one task, a file a length, the same for every seed and variant (Section 3, B.1)."""

from vanishing_variance import paths, registry, tasks
from vanishing_variance.command import Arguments, run
from vanishing_variance.io.arrays import write_arrays
from vanishing_variance.io.yaml import read_yaml
from vanishing_variance.memory.enough import enough
from vanishing_variance.memory.generate import generate
from vanishing_variance.params.base import PATH, take
from vanishing_variance.params.seeds import Index
from vanishing_variance.params.test import Test
from vanishing_variance.seeding import stream
from vanishing_variance.tasks.base import Task


def main() -> None:
    parser = Arguments(description=__doc__, allow_abbrev=False)
    parser.add_argument("--task", required=True)
    name = parser.parse_args().task
    params = read_yaml(PATH)
    root: int = take(params, "seed", Index)
    test: Test = take(params, "test", Test)
    task: Task = take(params, f"tasks.{name}.data", registry.load(tasks, name).TASK)
    with enough(generate(name, task, test)):
        for length in test.lengths:
            drawn = task.sample(stream(root, "test", name, length), test.sequences, length)
            write_arrays(paths.sequences(name, length), drawn)


if __name__ == "__main__":
    run(main)
