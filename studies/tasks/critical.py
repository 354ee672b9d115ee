"""How fast logits must grow with N, by counting the gaps between them: `python studies/tasks/critical.py`.

A row of attention has gaps t_1 <= t_2 <= … between its largest logit and the others, before a factor. The critical
factor is the largest log(k) / t_k: with a smaller one the k nearest rivals together outweigh the largest logit. After
Hayase and Karakida (2026, arXiv:2605.12697), who count gaps so; read in their abstract alone. Here it is the median
over sequences and heads, and its power of N the slope of its log between the shortest and the longest length.

Writes critical.csv: by task and line the power, and the one that the line's factor has learned; the critical factor as
a part of the factor that the line has, at both lengths. Means over seeds with 95% t intervals. Needs the weights of
`make study NAME=tasks`. Added after the results had been seen.
"""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from jaxtyping import Float
from torch import Tensor

from vanishing_variance.engine.variant import Variant
from vanishing_variance.harness.arrays import read_arrays
from vanishing_variance.harness.frames import write_csv
from vanishing_variance.harness.script import run_script
from vanishing_variance.harness.sections import PATH
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.measure.drawn import drawn_sequences
from vanishing_variance.measure.inference.models import Models, select_models
from vanishing_variance.statistics.intervals import interval
from vanishing_variance.studies.line import LineRun
from vanishing_variance.studies.parameters import line_params
from vanishing_variance.studies.study import read_study

HERE = Path(__file__).parent
TASKS = ("argmax", "dictionary", "largest_of_kind")  # in membership keys repeat, and half of the rows have no target
LINES = ("falls-none", "three-changes")
BLOCK, SEEDS = 22, 8
SHORT, LONG = 2**4, 2**14
SEQUENCES, IN_BATCH = 128, 16  # a length


def main() -> None:
    """Measure, write and print."""
    found = pd.DataFrame([row for task in TASKS for line in LINES for row in of_line(task, line)])
    write_csv(HERE / "critical.csv", found)
    print(found.to_string(index=False))


def of_line(task_name: str, line: str) -> Iterator[dict[str, object]]:
    """Yield a row a quantity of a line: task, line, quantity, mean, low, high."""
    params = line_params(read_yaml(PATH), read_study(HERE.name), line)
    run = LineRun(task_name, "short", params["norm"], BLOCK, params["attention"], HERE.name, line)
    variant = Variant.of(params, task_name, run.norm, run.attention)
    weights = read_arrays(run.weights)
    drawn = drawn_sequences(variant.task, task_name, params["seed"], SEQUENCES, [SHORT, LONG])
    relative = np.empty((2, SEEDS))
    for seed in range(SEEDS):
        models = Models.of(variant, select_models(weights, slice(seed, seed + 1)))
        for place, length in enumerate((SHORT, LONG)):
            found = [critical(models.attended(batch).logits) for batch in drawn[length](IN_BATCH)]
            relative[place, seed] = torch.cat(found, dim=1).median()
    learned = weights["map.exponent"][:, 0] if "map.exponent" in weights else np.zeros(SEEDS)
    power = np.log(relative[1] / relative[0]) / np.log(LONG / SHORT) + learned
    quantities = {"critical power": power}
    if learned.any():
        quantities["learned power"] = learned
    quantities |= {f"critical / own {length}": relative[place] for place, length in enumerate((SHORT, LONG))}
    for name, values in quantities.items():
        mean, low, high = (f"{x:.4g}" for x in interval(values.astype(float)))
        yield {"task": task_name, "line": line, "quantity": name, "mean": mean, "low": low, "high": high}


def critical(logits: Float[Tensor, "S BH N"]) -> Float[Tensor, "S BH"]:
    """Return the critical factor of each row of logits, as a part of the factor that they have."""
    descending = logits.sort(dim=-1, descending=True).values
    gaps = descending[..., :1] - descending[..., 1:]
    counts = torch.arange(1, gaps.shape[-1] + 1, dtype=gaps.dtype)
    largest: Tensor = (counts.log() / gaps).nan_to_num(0.0).amax(dim=-1)
    return largest


if __name__ == "__main__":
    run_script(main)
