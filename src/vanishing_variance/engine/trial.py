"""The trial of a model before its training: a step on one batch, and answers, which must be the same again.

What differs from the same state is decided by something beside it, which neither a test nor a training that goes on
from a checkpoint has. The functions of a normaliser and an attention map are tried on numbers of several seeds, too.

S seeds, B sequences, H heads, N items, D width.
"""

from collections.abc import Callable, Generator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import product
from types import ModuleType
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from vanishing_variance.engine import drawing
from vanishing_variance.engine.drawing import LABEL
from vanishing_variance.engine.initialisation import draw
from vanishing_variance.engine.interfaces import Normaliser, Rescaled, Weighting, Weights, of_heads
from vanishing_variance.engine.plan import TrainingPlan
from vanishing_variance.engine.streams import stream
from vanishing_variance.harness.by_value import bytes_of, copied, described
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.memory import in_one_line

# Of a batch; and a step along the gradient.
SEQUENCES, STEP = 8, 0.01
# Of the largest number of a column, what rounding may change in another.
ROUNDING = 1e-3
# Of the numbers that functions are tried with.
SEEDS, ITEMS = 2, 11

Batch = Mapping[str, Tensor]
Parameters = Mapping[str, Float[Tensor, "_ _ _"]]
# A function of numbers, by what it has learned.
Function = Callable[[Tensor, Parameters], Any]


@dataclass(frozen=True)
class Model:
    """A new model as a trial needs it.

    `state` is that of a module; `parts` returns by name, in order, what it computes of a batch, the class logits (B, C)
    last; `held`, what it has beside its state; `remedy` ends the line that refuses it.
    """

    name: str
    state: nn.Module
    parts: Callable[[Batch], dict[str, Tensor]]
    held: Callable[[], Mapping[str, Any]]
    remedy: str


def check_choices(plan: TrainingPlan, seed: int) -> None:
    """Raise InputError where a normaliser or an attention map does not do what it has to, or a step cannot be made."""
    variant = _own(plan).variant
    check_norm(variant.norm_name, variant.norm, variant.model.epsilon, variant.model.width)
    check_attention(variant.attention_name, variant.attention, variant.model.heads)
    initial = draw(variant.initial(plan.task_training), plan.root_seed, variant.task_name, [seed])
    check_model(plan, partial(_fast_model, plan, initial))


def _own(plan: TrainingPlan) -> TrainingPlan:
    """Return a plan whose choices no other model has: what they keep of a trial must not be trained."""
    return copied(plan, f"copying {plan.name}") if plan.is_given else plan


def _fast_model(plan: TrainingPlan, initial: Weights) -> Model:
    """Return the fast network of a seed."""
    variant = _own(plan).variant
    network = variant.network()
    weights = {name: nn.Parameter(tensor.clone()) for name, tensor in initial.items()}

    def parts(batch: Batch) -> dict[str, Tensor]:
        of_seed = {name: array.unsqueeze(0) for name, array in batch.items()}
        context = network.context(weights, *network.encode(weights, of_seed))
        outputs = network.outputs(weights, *context)
        normalised = network.normalise(weights, outputs.clone())  # it may change them in place
        class_logits = network.read_out(weights, normalised).squeeze(0)
        return {"what attention returns": outputs, "what norm returns": normalised, "the answer": class_logits}

    def held() -> dict[str, Any]:
        return {"what norm keeps": _held(network.norm), "what attention keeps": _held(network.attention)}

    name = f"norm {variant.norm_name}, attention {variant.attention_name}"
    remedy = "keep nothing between calls, or give a normaliser as an nn.Module"
    return Model(name, nn.ParameterList(weights.values()), parts, held, remedy)


def check_model(plan: TrainingPlan, make: Callable[[], Model]) -> None:
    """Raise InputError where models of one state differ, or an answer changes the state or depends on other sequences.

    `make` returns a new model. One makes a step and answers, then from the same state again; so does a new one. Another
    new one, with the state after the step, answers in another order. All have the same random numbers.
    """
    torch.set_num_threads(1)  # as in training: several wait for each other
    model = make()
    of_lengths = samples(plan)
    initial = {name: tensor.clone() for name, tensor in model.state.state_dict().items()}
    with torch.random.fork_rng():
        first = _tried(model, of_lengths[0])
        model.state.load_state_dict(initial)
        for same in (model, make()):
            _require_same(model, first, _tried(same, of_lengths[0]))
        loaded = make()
        loaded.state.load_state_dict(model.state.state_dict())
        loaded.state.eval()
        for sample in reversed(of_lengths):
            answers, again = _answered(model, sample), _answered(loaded, sample)
            _require_same(model, _described(model, answers), _described(model, again))
            _check_apart(model, sample, answers)


def samples(plan: TrainingPlan) -> list[Batch]:
    """Return sequences with their LABEL of the shortest and of the longest training length.

    For the fast engine, whose choices take any length, those of twice the longest, where its task has such.
    """
    shortest, longest = plan.lengths.shortest, plan.lengths.longest
    if not plan.is_plain:
        longest = min(2 * longest, plan.variant.task.longest or 2 * longest)
    drawn: list[Batch] = []
    for number, length in enumerate((shortest, longest)):
        rng = stream("check", "trial", number, length)
        arrays = drawing.draw(plan.variant.task, rng, SEQUENCES, length)
        drawn.append({name: torch.from_numpy(array) for name, array in arrays.items()})
    return drawn


def _tried(model: Model, sample: Batch) -> dict[str, bytes]:
    """Make a step, and return by name all that can be seen of it and of an answer after it."""
    model.state.train()
    torch.manual_seed(0)
    with in_one_line(f"{model.name}: a training step"):
        *_, class_logits = _parts(model, sample).values()
        loss = cross_entropy(class_logits, sample[LABEL].to(class_logits.device))
        loss.backward()
    for parameter in model.state.parameters():
        if parameter.grad is not None:
            parameter.data.sub_(STEP * parameter.grad.to_dense())
            parameter.grad = None
    trained = _described(model, model.state.state_dict())
    model.state.eval()
    answers = _answered(model, sample)
    after = _described(model, model.state.state_dict())
    _require_same(model, trained, after, "changes in a test", "ask self.training first")
    return _described(model, {**dict(model.state.named_buffers()), **model.held(), **answers, "the loss": loss})


def _answered(model: Model, sample: Batch, noise: int = 1) -> dict[str, Tensor]:
    torch.manual_seed(noise)
    with torch.no_grad():
        return _parts(model, sample)


def _parts(model: Model, sample: Batch) -> dict[str, Tensor]:
    device = next(model.state.parameters()).device
    batch = {name: array.to(device) for name, array in sample.items() if name != LABEL}
    with in_one_line(model.name):
        return model.parts(batch)


def _check_apart(model: Model, sample: Batch, answers: Mapping[str, Tensor]) -> None:
    """Raise InputError where the answer to a sequence depends on those beside it, but for one that is drawn."""
    half = {name: array[: SEQUENCES // 2] for name, array in sample.items()}
    *_, beside = answers.values()
    *_, alone = _answered(model, half).values()
    if mixes(beside[: SEQUENCES // 2], alone):
        *_, again = _answered(model, sample, noise=2).values()
        if torch.equal(beside, again):
            raise InputError(f"{model.name}: an answer depends on other sequences of a batch; keep them apart")


def _require_same(
    model: Model,
    one: dict[str, bytes],
    other: dict[str, bytes],
    fault: str = "is different when seed and state are the same",
    remedy: str = "",
) -> None:
    for name in one | other:
        if one.get(name) != other.get(name):
            why = f"{fault}, so another model would be tested; {remedy or model.remedy}"
            raise InputError(f"{model.name}: {name} {why}")


def _described(model: Model, values: Mapping[str, Any]) -> dict[str, bytes]:
    """Return named values as bytes, but for what cannot be copied."""
    by_name = {}
    for name, value in values.items():
        if isinstance(value, Generator):
            raise InputError(f"{model.name}: {name} is a generator, which no copy can go on with; {model.remedy}")
        with suppress(Exception):  # of any kind: of its class's own code
            by_name[name] = bytes_of(value) if isinstance(value, Tensor) else described(value)
    return by_name


def _held(choice: Any) -> Any:
    """Return what a choice keeps, of a file what its names are."""
    is_file = isinstance(choice, ModuleType)
    return {name: value for name, value in vars(choice).items() if name[:2] != "__"} if is_file else choice


def check_norm(name: str, norm: Normaliser, epsilon: float, width: int) -> None:
    """Raise InputError where `normalise` fails, returns other than (S, B, D), or depends on more than its argument."""

    def normalise(outputs: Tensor, learned: Parameters) -> Any:
        return norm.normalise(outputs, learned, epsilon)

    numbers = _numbers(SEEDS, SEQUENCES, width)
    _check_alone(f"norm {name}: normalise", normalise, numbers, _learned(norm.LEARNABLE, width))


def check_attention(name: str, attention: Rescaled | Weighting, heads: int = 1) -> None:
    """Raise InputError where `weights`, or logits times `scale`, fail, are other than (S, BH, N), or mix sequences."""

    def scaled(logits: Tensor, learned: Parameters) -> Any:
        assert isinstance(attention, Rescaled)
        return logits * attention.scale(logits.shape[-1], learned)

    rows = heads * SEQUENCES
    learned = {**_learned(attention.LEARNABLE, 1), **_learned(of_heads(attention), 1, rows)}
    what, function = ("scale", scaled) if isinstance(attention, Rescaled) else ("weights", attention.weights)
    _check_alone(f"attention {name}: {what}", function, _numbers(SEEDS, rows, ITEMS), learned)


def map_reads_order(attention: Any) -> bool:
    """Return whether the weight of an item depends on its place among the others."""
    if isinstance(attention, Rescaled) or not isinstance(attention, Weighting):
        return False
    learned = _of_seed(_learned({**attention.LEARNABLE, **of_heads(attention)}, 1), 0)
    logits = _numbers(1, SEQUENCES, ITEMS)
    order = torch.from_numpy(stream("check", "order").permutation(ITEMS))
    with suppress(Exception), torch.no_grad():  # which the check of the map says
        reordered = attention.weights(logits[..., order], learned)
        return mixes(attention.weights(logits, learned)[..., order], reordered)
    return False


def mixes(beside: Float[Tensor, "... B C"], alone: Float[Tensor, "... B C"]) -> bool:
    """Return whether numbers beside other sequences are others than alone, by more than rounding, a column each."""
    largest = beside.nan_to_num(0, 0, 0).abs().amax(-2, keepdim=True)
    rounding = ROUNDING * largest + 1e-3 * ROUNDING * largest.median()
    alike = (beside - alone).abs() <= rounding
    alike |= beside == alone  # infinite
    alike |= beside.isnan() & alone.isnan()
    return not alike.all()


def _check_alone(what: str, function: Function, numbers: Tensor, learned: Parameters) -> None:
    """Raise InputError for a function that returns something of another kind, or not of each sequence alone."""
    half = numbers.shape[1] // 2
    with in_one_line(what), torch.no_grad():
        returned = function(numbers.clone(), learned)
        if _kind(returned) != _kind(numbers):
            raise InputError(f"{what} returns {_kind(returned)}; must be {_kind(numbers)}, as what it is given")
        for seed, part in product(range(SEEDS), (slice(half), slice(half, None))):
            alone = function(numbers[seed : seed + 1, part].clone(), _of_seed(learned, seed, part))
            if mixes(returned[seed : seed + 1, part], alone):
                raise InputError(f"{what} depends on other sequences or seeds, or on chance; compute along dim=-1")


def _numbers(*shape: int) -> Tensor:
    return torch.from_numpy(stream("check", *shape).standard_normal(shape, dtype="float32"))


def _learned(initial: Mapping[str, float], size: int, rows: int = 1) -> Parameters:
    """Return initial values, and others near them for each other seed and row."""
    near = 1 + torch.arange(SEEDS * rows).view(SEEDS, rows, 1) / 8 / rows
    return {name: (near * value + near - 1).expand(SEEDS, rows, size).clone() for name, value in initial.items()}


def _of_seed(learned: Parameters, seed: int, rows: slice = slice(None)) -> Parameters:
    """Return what a seed has learned, of some rows where each has its own."""
    of_seed = {name: tensor[seed : seed + 1] for name, tensor in learned.items()}
    return {name: tensor[:, rows] if tensor.shape[1] > 1 else tensor for name, tensor in of_seed.items()}


def _kind(returned: Any) -> str:
    """Return dtype and shape of a tensor, or the name of another type."""
    if not isinstance(returned, Tensor):
        return type(returned).__name__
    return f"{str(returned.dtype).removeprefix('torch.')} {tuple(returned.shape)}"
