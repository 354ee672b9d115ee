"""The output projections W_O of a model's attention, found by what they read: O, the heads' outputs side by side.

B sequences, N tokens, H heads, F features.
"""

import re
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import torch
from torch import nn
from torch.nn import functional
from torch.overrides import TorchFunctionMode
from transformers import PreTrainedModel

# They return heads' outputs, or the attention weights, in which these are linear.
ATTENTION = (functional.scaled_dot_product_attention, functional.softmax, torch.softmax, torch.Tensor.softmax)


class ScaledHeads(TorchFunctionMode):
    """Attention to tokens (B, N), the output of each head multiplied by its factor (H)."""

    def __init__(self, tokens: torch.Tensor, factors: torch.Tensor) -> None:
        super().__init__()
        (batch, length), heads = tokens.shape, len(factors)
        self.shapes = ((batch, heads, length), (batch * heads, length))
        self.factors = factors.repeat(batch)[:, None, None]
        self.calls = 0

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        output = function(*args, **(kwargs or {}))
        if function not in ATTENTION or output.shape[:-1] not in self.shapes:
            return output
        self.calls += 1
        return (output.flatten(0, -3) * self.factors).view_as(output)


def output_projections(
    model: PreTrainedModel, tokens: torch.Tensor, run: Callable[[torch.Tensor], None]
) -> dict[int, nn.Module]:
    """Return W_O by layer, of layers with attention; `run` runs the model on tokens (B, N).

    Where each head's output is multiplied by a factor of its own, W_O is the matrix to the model's width that reads O
    so multiplied. It is then given O without factors, for the layers after it to be as they were. Raises ValueError
    unless each attention has a W_O, in a layer of its own.
    """
    config = model.config.get_text_config(decoder=True)
    factors = torch.linspace(1, 2, config.num_attention_heads + 1, device=model.device)[1:]
    shape = (*tokens.shape, config.hidden_size)
    read: dict[nn.Module, torch.Tensor] = {}
    found: list[nn.Module] = []

    def keep(matrix: nn.Module, inputs: Any, output: Any) -> None:
        if isinstance(output, torch.Tensor) and output.shape == shape and inputs:
            read[matrix] = inputs[0]

    def compare(matrix: nn.Module, inputs: Any) -> Any:
        if matrix not in read or not _is_scaled(inputs[0], read[matrix], factors):
            return inputs
        found.append(matrix)
        return (read[matrix], *inputs[1:])

    matrices = [module for module in model.modules() if _is_matrix(module)]
    with ExitStack() as hooks:
        for matrix in matrices:
            hooks.enter_context(matrix.register_forward_hook(keep))
        run(tokens)
    with ExitStack() as hooks, ScaledHeads(tokens, factors) as attention:
        for matrix in matrices:
            hooks.enter_context(matrix.register_forward_pre_hook(compare))
        run(tokens)
    # layers.3.self_attn.o_proj, h.3.attn.c_proj: the first number is the layer's
    numbers = {module: re.findall(r"\d+", name) for name, module in model.named_modules()}
    projections = {int(numbers[matrix][0]): matrix for matrix in found}
    if not len(projections) == len(found) == attention.calls > 0:
        raise ValueError(
            f"up to the last of probe.layers, {attention.calls} layers with attention were found, and "
            f"{len(projections)} output projections that read the heads' outputs"
        )
    return projections


def _is_matrix(module: nn.Module) -> bool:
    """Return whether a module multiplies by a matrix, be it nn.Linear or a class of the model's own."""
    weight = getattr(module, "weight", None)
    return isinstance(weight, torch.Tensor) and weight.ndim == 2


def _is_scaled(now: torch.Tensor, before: torch.Tensor, factors: torch.Tensor) -> bool:
    """Return whether what is read (B, N, F) has changed, and is what it was before times the factor of each head."""
    if before.ndim != 3 or before.shape[2] % len(factors):
        return False
    heads = before.unflatten(2, (len(factors), -1)) * factors[:, None]
    pairs = zip(now.view_as(heads).unbind(2), heads.unbind(2), strict=True)
    return not alike(now, before) and all(alike(*pair) for pair in pairs)


def alike(one: torch.Tensor, other: torch.Tensor) -> bool:
    """Return whether two tensors are the same but for rounding."""
    return bool((one - other).abs().max() <= 1e-3 * one.abs().max())
