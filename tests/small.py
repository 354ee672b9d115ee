"""Small plans and models, and what they compute written plainly."""

from dataclasses import replace

import numpy as np
import torch
from scipy import stats

from vanishing_variance.engine import registry
from vanishing_variance.engine.config import Model, Training
from vanishing_variance.engine.initialisation import draw
from vanishing_variance.engine.plan import TrainingPlan
from vanishing_variance.engine.ranges import Range
from vanishing_variance.engine.streams import stream
from vanishing_variance.engine.variant import Variant
from vanishing_variance.measure.proposition.measurement import Trained
from vanishing_variance.reference import Reference

DATA = {"argmax": {"classes": 10}, "dictionary": {"key_classes": 256, "value_classes": 8}}
TASK_TRAINING = {"argmax": {}, "dictionary": {"embedding_width": 16, "embedding_std": 0.25}}
# The width of `make_trained`, and times how much its logits differ so that single items have most of the weight.
WIDTH = 16
SHARP = {"argmax": 30, "dictionary": 10}


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


def make_trained(task="argmax", norm="none", sharpness=1.0, attention="softmax", **model):
    """A block of two models with drawn weights, in single precision; the logits times `sharpness`.

    Their answers depend on which items have weight, and no bias, gamma or beta is as it begins.
    """
    plan = make_plan(task, norm, model=make_model(**{"width": WIDTH, "initialisation": "lecun"} | model))
    variant = replace(plan.variant, attention_name=attention)
    initial = in_arrays(draw(variant.initial(plan.task_training), 0, task, [0, 1]))
    weights = {name: _moved(name, array) for name, array in initial.items()}
    for name in {"attention.key", "attention.scale"} & weights.keys():
        weights[name] *= np.float32(sharpness)
    trained = Trained(variant, weights)
    sample = variant.task.sample(stream(0, "centre"), 100, 8)
    for place in (0, 1):
        weights["head.2.bias"][place] -= plainly(trained, sample, place)["classes"].mean(axis=0)
    return trained


def _moved(name, array):
    """A tensor as if training had moved it."""
    if name.startswith("embedding."):
        return 4 * array
    if name.endswith("bias") or name.startswith(("norm.", "map.")):
        return array + np.float32(0.3) * stream(0, "moved", name).standard_normal(array.shape, dtype=np.float32)
    return array


def single(trained, place):
    """The weights of the model at one place of a block."""
    return {name: array[place : place + 1] for name, array in trained.weights.items()}


def in_parts(drawn, size):
    """Sequences as read from a file, `size` at a time."""
    for start in range(0, len(drawn["query"]), size):
        yield {name: array[start : start + size] for name, array in drawn.items()}


def plainly(trained, batch, place=0, weigh=None):
    """What the plain module makes of a batch in double precision, (B, ...) by name.

    `logits` and `weights` of the items, their `values`, O `before` and `after` the normaliser, and the logits of the
    `classes`. `weigh` takes the place of the attention map.
    """
    variant, network = trained.variant, trained.variant.network()
    model = Reference(variant.task, network.norm, variant.model, 16, network.attention).double()
    model.load({name: torch.from_numpy(array) for name, array in trained.weights.items()}, place)
    seen, of_map = {}, weigh or model._weights

    def watched(logits):
        seen["logits"], seen["weights"] = logits, of_map(logits)
        return seen["weights"]

    model._weights = watched
    model.attention["value"].register_forward_hook(lambda module, given, values: seen.update(values=values))
    model.attention["output"].register_forward_pre_hook(lambda module, given: seen.update(after=given[0]))
    tensors = {name: torch.from_numpy(array) for name, array in batch.items()}
    with torch.no_grad():
        seen["classes"] = model({n: of.double() if of.is_floating_point() else of for n, of in tensors.items()})
    seen["before"] = (seen["weights"].unsqueeze(1) @ seen["values"]).squeeze(1)
    return {name: tensor.numpy() for name, tensor in seen.items()}


def adaptive(polynomial):
    """The softmax with an adaptive temperature, by numpy's polynomial and scipy's entropy."""

    def weigh(logits):
        entropy = stats.entropy(torch.softmax(logits, -1).numpy(), axis=-1)
        beta = np.where(entropy > 0.5, np.maximum(np.polyval(polynomial, entropy), 1), 1)
        return torch.softmax(logits * torch.from_numpy(beta).unsqueeze(-1), -1)

    return weigh


def clear(logits):
    """Whether the largest of some logits is larger than the next by far more than rounding, on any processor."""
    ordered = np.sort(logits, axis=-1)
    return ordered[..., -1] - ordered[..., -2] > 0.01 * logits.std()


def make_solved(slope):
    """argmax by hand: an item's logit is `slope` times its priority, and a class's logit the weight of its items."""
    trained = make_trained()
    weights = {name: np.zeros_like(array) for name, array in trained.weights.items()}
    attention = [f"attention.{name}" for name in ("query", "key", "value", "output")]
    for name in ("item.0.weight", "item.2.weight", "head.0.weight", *attention):
        weights[name][:] = np.eye(*weights[name].shape[1:])
    weights["item.0.bias"] += 10  # where GELU is the identity
    weights["query.2.bias"][:, 0] = slope * WIDTH**0.5
    weights["head.2.weight"][:, :, 1:11] = np.eye(10)
    return Trained(trained.variant, weights)


def make_dependent(logit):
    """argmax by hand: of items of class 0, one in ten, the logit is `logit` and V_0 is 10, of others both are 0.

    V_1 is the GELU of the priority, whatever the class.
    """
    trained = make_trained()
    weights = {name: np.zeros_like(array) for name, array in trained.weights.items()}
    weights["item.0.weight"][:, 0, 1], weights["item.0.weight"][:, 1, 0] = 10, 1
    for name in ("item.2.weight", "attention.value"):
        weights[name][:, [0, 1], [0, 1]] = 1
    weights["attention.query"][:, 0, 0] = weights["attention.key"][:, 0, 0] = 1
    weights["query.2.bias"][:, 0] = logit / 10 * WIDTH**0.5
    return Trained(trained.variant, weights)


def in_arrays(weights, dtype=None):
    """Weights as a stage reads them, of this precision."""
    return {name: tensor.to(dtype).numpy() for name, tensor in weights.items()}
