"""Write a trained ln model of each task as a std model, and count where the two answer otherwise (Section 3.2)."""

from functools import partial

from vanishing_variance import registry, tasks
from vanishing_variance.capacity import compare
from vanishing_variance.command import Arguments, run
from vanishing_variance.io.arrays import read_arrays, read_parts
from vanishing_variance.io.files import write_json
from vanishing_variance.io.yaml import read_yaml
from vanishing_variance.model.variant import Variant
from vanishing_variance.params.base import PATH, take
from vanishing_variance.params.experiment import Model
from vanishing_variance.params.seeds import Blocks
from vanishing_variance.params.test import Lengths
from vanishing_variance.paths import Run, sequences
from vanishing_variance.study import METRICS, TASKS


def main() -> None:
    Arguments(description=__doc__).parse_args()
    params = read_yaml(PATH)
    lengths, blocks = take(params, "test.lengths", Lengths), take(params, "blocks", Blocks)
    model: Model = take(params, "model", Model)
    data = {task: take(params, f"tasks.{task}.data", registry.load(tasks, task).TASK) for task in TASKS}
    document = {}
    for task in TASKS:
        first = Run(task, "short", "ln", blocks[0]).path("weights", ".safetensors")
        weights = {name: array[:1] for name, array in read_arrays(first).items()}
        read = {length: partial(read_parts, sequences(task, length)) for length in lengths}
        document[task] = compare(Variant(task, "ln", data[task], model), weights, read)
    write_json(METRICS / "capacity.json", document)


if __name__ == "__main__":
    run(main)
