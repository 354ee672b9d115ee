"""What the GPU's test compares: `python tests/gpu/work.py FILE`, on the device at hand, all results in one file.

Trainings of some steps, and small models with drawn weights, so that what differs is rounding.
"""

import sys
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
import torch
from small import SHARP, cut_off, in_parts, make_model, make_plan, make_trained, models_of, plan_of, sample

from vanishing_variance.engine import block as fast_block
from vanishing_variance.engine import loop
from vanishing_variance.engine.device import device
from vanishing_variance.measure.config import Diagnostics, Interventions
from vanishing_variance.measure.evaluation.fast_models import evaluate_block
from vanishing_variance.measure.interventions.measurement import Trained, intervene
from vanishing_variance.plain import training as plain_training
from vanishing_variance.plain.plan import PlainPlan

TASKS = ("argmax", "dictionary")
STEPS = 60
LENGTHS = (4, 32)
SEEDS = [4, 5]


def training_of(task, norm="ln", **training):
    return make_plan(task, norm, STEPS, **{"learning_rate": 1e-3, "averaged_part": 0.5} | training)


def trained(plan, seeds=SEEDS, folder=None):
    """Train a block: the loss of every step, and the weights."""
    block = fast_block.train_block(plan, seeds, folder)
    return {"losses": block.losses["loss"].to_numpy(), **block.weights, **block.kept["averaged"]}


def trainings():
    for task in TASKS:
        for norm in ("none", "ln", "std", "rms"):
            yield f"train {task} {norm}", trained(training_of(task, norm))
        yield f"train {task} cosine", trained(training_of(task, decay="cosine", weight_decay=0.1))
        yield f"train {task} heads", trained(training_of(task, attention="power", model=make_model(heads=2)))
        plain = replace(PlainPlan.of_paper(training_of(task)), network="transformer", options={"width": 32})
        block = plain_training.train_block(plain, SEEDS)
        yield f"train {task} transformer", {"losses": block.losses["loss"].to_numpy(), **block.weights}


def again():
    """Yield pairs that are equal to the last bit on one device: trained twice, and cut off in the middle."""
    for task in TASKS:
        plan = training_of(task)
        whole = trained(plan)
        yield f"again {task}", whole, trained(plan)
        with TemporaryDirectory() as folder:
            resumed = partial(trained, plan, folder=Path(folder))
            cut_off(resumed, STEPS // 2)
            yield f"resumed {task}", whole, resumed()


def measurements():
    for task in TASKS:
        models = {norm: make_trained(task, norm, SHARP[task], heads=2) for norm in ("none", "ln")}
        drawn = {length: sample(models["ln"], 200, length) for length in LENGTHS}
        read = {length: partial(in_parts, sequences) for length, sequences in drawn.items()}
        attended = models_of(models["ln"]).attended(drawn[32])
        names = ("logits", "weights", "before", "after")
        yield f"inside {task}", {name: getattr(attended, name).cpu().numpy() for name in names}

        look = Diagnostics(sequences=20, heatmap_sequences=7)
        ln, none = (Trained(plan_of(models[norm]), models[norm].weights) for norm in ("ln", "none"))
        _, frames = evaluate_block(ln.plan, {"last": ln.weights}, SEEDS, read, look)
        numbers = frames["mechanism"].select_dtypes("number")
        yield f"mechanism {task}", {name: numbers[name].to_numpy() for name in numbers}
        yield f"fractions {task}", {"accuracy": frames["accuracy"]["accuracy"].to_numpy()}

        accuracy = intervene(ln, none, read, SEEDS, Interventions(sequences=100, training_sequences=100))
        yield f"fractions {task} interventions", {"accuracy": accuracy["accuracy"].to_numpy()}


def main():
    loop.STEPS_PER_RECORD = 1
    results = {}
    for name, arrays in (*trainings(), *measurements()):
        results |= {f"{name}/{part}": array for part, array in arrays.items()}
    for name, one, other in again():
        assert one.keys() == other.keys(), name
        for part, array in one.items():
            assert np.array_equal(array, other[part]), f"{name}: {part} differs"
    np.savez(sys.argv[1], **results)
    print(torch.cuda.get_device_name() if device().type == "cuda" else "cpu")


if __name__ == "__main__":
    main()
