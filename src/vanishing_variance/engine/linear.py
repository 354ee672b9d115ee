"""Linear layers one after another, with GELU between, as one differentiable function with a hand-derived gradient.

S seeds, B rows, I inputs and O outputs of a layer.
"""

from typing import Any, NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from vanishing_variance.engine.items import gelu
from vanishing_variance.engine.kernels import attend as compiled
from vanishing_variance.engine.kernels.matmul import matmul


class Linear(NamedTuple):
    """One layer: x W^T + b, W (S, O, I) as torch's linear layers have it, then the GELU of the form that is named.

    Where it is `transposed`, the weight is (S, I, O), and multiplied as it is.
    """

    weight: Float[Tensor, "S _ _"]
    bias: Float[Tensor, "S O"] | None = None
    gelu: str | None = None
    transposed: bool = False


def linear(x: Float[Tensor, "S B I"], *layers: Linear) -> Float[Tensor, "S B O"]:
    """Return `x` through the layers; gradients flow to it, to every weight and every bias."""
    forms = [(layer.gelu, layer.transposed) for layer in layers]
    tensors = [tensor for layer in layers for tensor in (layer.weight, layer.bias)]
    result: Tensor = _Linear.apply(x, forms, *tensors)  # type: ignore[no-untyped-call]
    return result


class _Linear(torch.autograd.Function):
    """Keeps each layer's inputs, and the derivative of each GELU, which is computed with its value."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, forms: list[tuple[str | None, bool]], *tensors: Tensor | None) -> Tensor:
        inputs, slopes = [], []
        for (form, transposed), weight, bias in zip(forms, tensors[::2], tensors[1::2], strict=True):
            assert weight is not None
            inputs.append(x)
            x, slope = matmul(x, weight if transposed else weight.mT, bias), None
            if form is not None:
                x, slope = _gelu(x, form, any(ctx.needs_input_grad))
            slopes.append(slope)
        ctx.save_for_backward(*inputs, *slopes, *tensors[::2])
        ctx.transposed = [transposed for _, transposed in forms]
        return x

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        (to_x, _, *needed), count = ctx.needs_input_grad, len(ctx.transposed)
        inputs, slopes, weights = (ctx.saved_tensors[first : first + count] for first in range(0, 3 * count, count))
        found: list[Tensor | None] = []
        for place in reversed(range(count)):
            x, weight, slope, transposed = inputs[place], weights[place], slopes[place], ctx.transposed[place]
            if slope is not None:  # in place, but for the gradient that is autograd's
                gradient = gradient * slope if place == count - 1 else gradient.mul_(slope)
            to_weight, to_bias = needed[2 * place : 2 * place + 2]
            left, right = (x, gradient) if transposed else (gradient, x)
            found.append(gradient.sum(1) if to_bias else None)
            found.append(matmul(left.mT, right) if to_weight else None)
            if place or to_x:
                gradient = matmul(gradient, weight.mT if transposed else weight)
        return gradient if to_x else None, None, *reversed(found)


def _gelu(x: Tensor, form: str, differentiated: bool) -> tuple[Tensor, Tensor | None]:
    """Return GELU of `x`, which may be overwritten, and its derivative where that is asked for."""
    if form == "exact" and compiled.usable(x):
        return compiled.gelu(x, differentiated)
    approximate = "none" if form == "exact" else form
    slope = torch.ops.aten.gelu_backward(torch.ones_like(x), x, approximate=approximate) if differentiated else None
    return gelu(x, form), slope
