"""Small plans and models, and what they compute written plainly."""

import numpy as np
import torch

from vanishing_variance.core import registry
from vanishing_variance.core.ranges import Range
from vanishing_variance.model.config import Model
from vanishing_variance.model.initialisation import draw
from vanishing_variance.model.variant import Variant
from vanishing_variance.proposition.measurement import Trained
from vanishing_variance.reference import Reference
from vanishing_variance.training.config import Training
from vanishing_variance.training.plan import TrainingPlan

DATA = {"argmax": {"classes": 10}, "dictionary": {"key_classes": 256, "value_classes": 8}}
TASK_TRAINING = {"argmax": {}, "dictionary": {"embedding_width": 16, "embedding_std": 0.25}}


def make_model(**changes):
    settings = {"width": 32, "epsilon": 1e-5, "gelu": "exact", "initialisation": "torch"}
    settings |= {"attention_biases": False, "scaled_logits": True, "output_projection": True, "projection": "mlp"}
    return Model(**settings | changes)


def make_plan(task="argmax", norm="ln", steps=20, model=None, **training):
    """A small training of one variant."""
    module = registry.load_task(task)
    settings = {"batch_size": 32, "learning_rate": 1e-2, "weight_decay": 0.0, "decay": "none", "seeds_per_process": 4}
    return TrainingPlan(
        name=f"{task}-short-{norm}-0",
        root_seed=0,
        range_name="short",
        lengths=Range(shortest=3, longest=9),
        variant=Variant(task, norm, module.TASK(**DATA[task]), model or make_model()),
        training=Training(**settings | training),
        task_training=module.TRAINING(**TASK_TRAINING[task]),
        steps=steps,
    )


def make_trained(task="argmax", norm="none", sharpness=1.0):
    """A block of two untrained models of one variant, in single precision; the logits times `sharpness`."""
    plan = make_plan(task, norm)
    weights = draw(plan.variant.initial(plan.task_training), 0, task, [0, 1])
    arrays = {name: tensor.numpy() for name, tensor in weights.items()}
    arrays["attention.key"] = arrays["attention.key"] * np.float32(sharpness)
    return Trained(plan.variant, arrays)


# Where single items of the untrained models weigh much more than others, so that A and V depend on each other.
SHARP = {"argmax": 400, "dictionary": 1000}


def plainly(trained, batch):
    """Logits (B, N) and values V (B, N, D) of the first model on a batch, by the plain module in double precision."""
    variant, weights = trained.variant, {name: torch.from_numpy(array) for name, array in trained.weights.items()}
    model = Reference(variant.task, variant.network().norm, variant.model, 16)
    model.load(weights, 0)
    seen = {}
    for name in ("query", "key", "value"):
        model.attention[name].register_forward_hook(lambda *made, name=name: seen.update({name: made[-1]}))
    with torch.no_grad():
        model.double()({name: torch.from_numpy(array.astype(np.float64)) for name, array in batch.items()})
    logits = (seen["query"].unsqueeze(1) @ seen["key"].mT).squeeze(1) / seen["key"].shape[-1] ** 0.5
    return logits.numpy(), seen["value"].numpy()


def make_dependent(logit):
    """argmax by hand: of items of class 0, one in ten, the logit is `logit` and V_0 is 10, of others both are 0.

    V_1 is the GELU of the priority, whatever the class.
    """
    trained, width = make_trained(), 32
    zero, square = np.zeros((1, width)), np.zeros((1, width, width))
    first, both, one, query = np.zeros((1, width, 11)), square.copy(), square.copy(), zero.copy()
    first[0, 0, 1], first[0, 1, 0] = 10, 1
    both[0, [0, 1], [0, 1]] = one[0, 0, 0] = 1
    query[0, 0] = logit / 10 * width**0.5
    weights = {"item.0.weight": first, "item.0.bias": zero, "item.2.weight": both, "item.2.bias": zero}
    weights |= {"query.2.weight": square, "query.2.bias": query}
    weights |= {"attention.query": one, "attention.key": one, "attention.value": both}
    single = {name: array.astype(np.float32) for name, array in weights.items()}
    return Trained(trained.variant, {**trained.weights, **single})


def in_arrays(weights, dtype=None):
    """Weights as a stage reads them, of this precision."""
    return {name: tensor.to(dtype).numpy() for name, tensor in weights.items()}
