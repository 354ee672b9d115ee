"""Linear layers one after another, with GELU between, as one differentiable function with a hand-derived gradient.

S seeds, B rows, I inputs and O outputs of a layer.
"""

from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn.functional import gelu

from vanishing_variance.engine.kernels import attend as compiled
from vanishing_variance.engine.kernels.matmul import matmul


class Linear(NamedTuple):
    """One layer: x W^T + b, W (S, O, I) as torch's linear layers have it, then GELU where that is asked for.

    Where it is `transposed`, the weight is (S, I, O), and multiplied as it is.
    """

    weight: Float[Tensor, "S _ _"]
    bias: Float[Tensor, "S O"] | None = None
    gelu: bool = False
    transposed: bool = False


def linear(x: Float[Tensor, "S B I"], *layers: Linear) -> Float[Tensor, "S B O"]:
    """Return `x` through the layers; gradients flow to it, to every weight and every bias."""
    forms = [(layer.gelu, layer.transposed) for layer in layers]
    weights = [layer.weight for layer in layers]
    biases = [layer.bias for layer in layers]
    result: Tensor = _Linear.apply(x, forms, *weights, *biases)  # type: ignore[no-untyped-call]
    return result


class _Linear(torch.autograd.Function):
    """Keeps each layer's input, and the derivative of each GELU, which is computed with its value."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, forms: list[tuple[bool, bool]], *tensors: Any) -> Tensor:
        count = len(forms)
        weights, biases = tensors[:count], tensors[count:]
        inputs, slopes = [], []
        for (has_gelu, transposed), weight, bias in zip(forms, weights, biases, strict=True):
            inputs.append(x)
            x = matmul(x, weight if transposed else weight.mT, bias)
            slope = None
            if has_gelu:
                x, slope = _gelu(x, any(ctx.needs_input_grad))
            slopes.append(slope)
        ctx.save_for_backward(*inputs, *slopes, *weights)
        ctx.transposed = [transposed for _, transposed in forms]
        return x

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        count = len(ctx.transposed)
        inputs = ctx.saved_tensors[:count]
        slopes = ctx.saved_tensors[count : 2 * count]
        weights = ctx.saved_tensors[2 * count :]
        needs_x, _, *needs_tensor = ctx.needs_input_grad
        to_weights: list[Tensor | None] = [None] * count
        to_biases: list[Tensor | None] = [None] * count
        for layer in reversed(range(count)):
            if slopes[layer] is not None:
                gradient = gradient * slopes[layer]
            if needs_tensor[count + layer]:
                to_biases[layer] = gradient.sum(1)
            if needs_tensor[layer]:
                left, right = (inputs[layer], gradient) if ctx.transposed[layer] else (gradient, inputs[layer])
                to_weights[layer] = matmul(left.mT, right)
            if layer > 0 or needs_x:
                weight = weights[layer]
                gradient = matmul(gradient, weight.mT if ctx.transposed[layer] else weight)
        return gradient if needs_x else None, None, *to_weights, *to_biases


def _gelu(x: Tensor, with_slope: bool) -> tuple[Tensor, Tensor | None]:
    """Return GELU of `x`, which may be overwritten, and its derivative where that is asked for."""
    if compiled.usable(x):
        return compiled.gelu(x, with_slope)
    slope = torch.ops.aten.gelu_backward(torch.ones_like(x), x) if with_slope else None
    return gelu(x), slope
