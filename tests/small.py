"""Small plans and models, and what the plain module makes of them."""

from collections import namedtuple
from dataclasses import replace

import numpy as np
import pytest
import torch
from checkout import ROOT
from rounding import in_double

from vanishing_variance import read_params
from vanishing_variance.engine import checkpoints, loop, registry
from vanishing_variance.engine.config import Model, Training
from vanishing_variance.engine.initialisation import draw
from vanishing_variance.engine.plan import TrainingPlan
from vanishing_variance.engine.ranges import Range
from vanishing_variance.engine.streams import stream
from vanishing_variance.engine.variant import Variant
from vanishing_variance.measure.inference.models import Models
from vanishing_variance.networks import paper
from vanishing_variance.plain.model import PlainModel
from vanishing_variance.plain.plan import PlainPlan

# The weights of a block of models of one variant, (S, ...) by name.
Trained = namedtuple("Trained", "variant weights")

DATA = {"argmax": {"classes": 10}, "dictionary": {"key_classes": 256, "value_classes": 8}}
TASK_TRAINING = {"argmax": {}, "dictionary": {"embedding_width": 16, "embedding_std": 0.25}}
# The width of `make_trained`, and times how much its logits differ so that single items have most of the weight.
WIDTH = 16
SHARP = {"argmax": 30, "dictionary": 10}


def smoke(**changes):
    """Return the parameters of tests/smoke.yaml, some changed."""
    return read_params(changes, ROOT / "tests/smoke.yaml")


def make_model(**changes):
    settings = {"width": 32, "heads": 1, "epsilon": 1e-5}
    settings |= {"attention_biases": False, "scaled_logits": True, "output_projection": True, "projection": "mlp"}
    return Model(**settings | changes)


def make_plan(task="argmax", norm="ln", steps=20, model=None, attention="softmax", **training):
    """Return a small training of one variant."""
    task_class = registry.load_task(task)
    settings = {"batch_size": 32, "learning_rate": 1e-2, "weight_decay": 0.0, "decay": "none"}
    settings |= {"averaged_part": 0.0, "kept_steps": [], "seeds_per_process": 4}
    return TrainingPlan(
        name=f"{task}-short-{norm}-0",
        root_seed=0,
        range_name="short",
        lengths=Range(shortest=3, longest=9),
        variant=Variant(task, norm, task_class(**DATA[task]), model or make_model(), attention),
        training=Training(**settings | training),
        task_training=task_class.training_class()(**TASK_TRAINING[task]),
        steps=steps,
    )


def plan_of(trained, shortest=3, longest=9):
    """Return the plan of a block, of these training lengths."""
    plan = make_plan(trained.variant.task_name)
    return replace(plan, variant=trained.variant, lengths=Range(shortest=shortest, longest=longest))


def make_short(task, norm="ln", *, model=None, **settings):
    """A plan of 12 steps, of 4 sequences a batch and width 16."""
    return make_plan(task, norm, model=make_model(width=16, **model or {}), **{"steps": 12, "batch_size": 4} | settings)


def start(plan, seeds):
    """The initial weights of seeds, of the fast engine."""
    return draw(plan.variant.initial(plan.task_training), plan.root_seed, plan.variant.task_name, seeds)


def make_trained(task="argmax", norm="none", sharpness=1.0, attention="softmax", **model):
    """Return a block of two models with drawn weights, in single precision; the logits times `sharpness`.

    Their answers depend on which items have weight, and no bias, gamma or beta is as it begins.
    """
    plan = make_plan(task, norm, model=make_model(**{"width": WIDTH} | model), attention=attention)
    initial = in_arrays(start(plan, [0, 1]))
    weights = {name: _moved(name, array) for name, array in initial.items()}
    weights["attention.key"] *= np.float32(sharpness)
    trained = Trained(plan.variant, weights)
    weights["head.2.bias"] -= plainly(trained, sample(trained, 100, 8))["classes"].mean(axis=1)
    return trained


def _moved(name, array):
    """Return a tensor as if training had moved it."""
    if name.startswith("embedding."):
        return 4 * array
    if name.endswith("bias") or name.startswith(("norm.", "map.")):
        noise = stream(0, "moved", name).standard_normal(array.shape, dtype=np.float32)
        return array + np.float32(0.3) * noise
    return array * np.float32(3**0.5)  # of inputs of variance 1 a layer then makes outputs of variance 1


def cut_off(train, step):
    """Train until the sequences of a step are asked for, with a checkpoint just before."""
    original = loop.training_batches

    def some(*arguments):
        for made, batch in enumerate(original(*arguments), arguments[2]):
            if made == step:
                raise KeyboardInterrupt
            if made == step - 1:
                checkpoints.SECONDS_BETWEEN = -1.0
            yield batch

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(loop, "training_batches", some)
        patched.setattr(checkpoints, "SECONDS_BETWEEN", checkpoints.SECONDS_BETWEEN)  # put back afterwards
        with pytest.raises(KeyboardInterrupt):
            train()


def in_arrays(weights):
    """Return weights as a stage reads them."""
    return {name: tensor.numpy() for name, tensor in weights.items()}


def models_of(trained, place=None):
    """Return the models of a block, or the one at a place."""
    weights = trained.weights if place is None else single(trained, place)
    return Models.of(trained.variant, weights)


def sample(trained, sequences, length):
    """Return sequences of a task, the same ones each time."""
    return trained.variant.task.sample(stream(0, "here", length), sequences, length)


def single(trained, place):
    """Return the weights of the model at one place of a block."""
    return {name: array[place : place + 1] for name, array in trained.weights.items()}


def of_plain_engine(trained):
    """Return the weights of a block as the plain engine stores them."""
    tensors = {name: torch.from_numpy(array) for name, array in trained.weights.items()}
    states = [paper.state_of_seed(tensors, place) for place in range(2)]
    return {name: np.stack([one[name].numpy() for one in states]) for name in states[0]}


def in_parts(drawn, size):
    """Yield sequences as if they were read from a file, `size` at a time."""
    for start in range(0, len(drawn["query"]), size):
        yield {name: array[start : start + size] for name, array in drawn.items()}


def plain_model(plan, weights, place):
    """Return the plain module with the weights of a seed of the fast engine's, in double precision."""
    model = PlainModel(PlainPlan.of_paper(plan)).double()
    model.load_state_dict(paper.state_of_seed(weights, place))
    return model


def plainly(trained, batch, weigh=None):
    """Compute a batch with the plain module in double precision; return arrays (S, B, ...) by name.

    `logits` and `weights` of the items, means over heads (`by_head`: the weights of each), their `values`, O `before`
    and `after` the normaliser, and the logits of the `classes`. `weigh`: in place of the attention map.
    """
    models = [_one_plainly(trained, batch, weigh, place) for place in range(2)]
    return {name: np.stack([seen[name] for seen in models]) for name in models[0]}


def _one_plainly(trained, batch, weigh, place):
    variant = trained.variant
    plan = replace(make_plan(variant.task_name), variant=variant)
    weights = {name: torch.from_numpy(array) for name, array in trained.weights.items()}
    model = plain_model(plan, weights, place)
    watched, seen = model.network, {}

    def watch(module, given, weights):
        by_head = given[0].unbind(1)
        weights = torch.stack([weigh(logits) for logits in by_head], dim=1) if weigh else weights
        seen.update(logits=torch.stack(by_head), weights=weights.transpose(0, 1))
        return weights

    watched.map.register_forward_hook(watch)
    watched.attention["value"].register_forward_hook(lambda module, given, values: seen.update(values=values))
    watched.attention["output"].register_forward_pre_hook(lambda module, given: seen.update(after=given[0]))
    tensors = {name: torch.from_numpy(array) for name, array in batch.items()}
    with torch.no_grad():
        seen["classes"] = model(in_double(tensors))
    logits, weights = seen["logits"], seen["weights"]
    values = seen["values"].unflatten(-1, (variant.model.heads, -1))
    before = torch.einsum("hbn,bnhd->bhd", weights, values).flatten(1)
    seen |= {"logits": logits.mean(0), "weights": weights.mean(0), "by_head": weights, "before": before}
    return {name: tensor.numpy() for name, tensor in seen.items()}


def clear(logits):
    """Return where the largest of some logits is larger than the next by far more than rounding, on any processor."""
    ordered = np.sort(logits, axis=-1)
    return ordered[..., -1] - ordered[..., -2] > 0.01 * logits.std()
