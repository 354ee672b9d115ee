"""Expectations over one item of a task's distribution, with the query fixed: what Proposition 1 reasons with.

M items of the distribution (all as probable), n of them at a time, H heads, D width.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float64

from vanishing_variance.engine.attend import attend
from vanishing_variance.engine.task import Sequences
from vanishing_variance.measure.inference.models import Models


@dataclass(frozen=True)
class Expected:
    """Of each feature d. l is an item's logit in the head of d, and V_d a feature of its value, centred or not.

    `item_variance` is the paper's sigma_d^2 = Var(V_d). `constant` is the delta method's limit of N Var(O_d): O_d is
    the mean of e^l V_d in a sequence over that of e^l, so it is Var(e^l (V_d - mu_d)) / (E e^l)^2 with
    mu_d = E[e^l V_d] / E[e^l], the limit of O_d itself.

    It is at most (max e^l / E e^l)^2 sigma_d^2, the limit of N times the paper's bound, however A and V depend on each
    other: with w = e^l / max e^l <= 1, E[w^2 (V - mu)^2] <= E[w (V - mu)^2] <= E[w (V - E V)^2] <= sigma^2.
    """

    item_variance: Float64[np.ndarray, " D"]
    constant: Float64[np.ndarray, " D"]


@torch.no_grad()
def expected(models: Models, enumerated: Callable[[], Iterable[Sequences]], length: int) -> Expected:
    """Return expectations of one model (S = 1) over the items that `enumerated` gives, which is gone through twice.

    Logits are those of a sequence of `length` items, of which an attention map may make something. With
    a = softmax(l) over the M items, e^l / E e^l = M a: no exponential is formed that could overflow.
    """
    logits = []
    for batch in enumerated():
        batch_logits, _ = attend(*models.encode(batch, length))
        logits.append(batch_logits[0].double())  # (H, n)
    a = torch.softmax(torch.cat(logits, dim=1), dim=1)
    heads, number = a.shape

    sums = []
    sizes = [batch_logits.shape[1] for batch_logits in logits]
    for batch, batch_a in zip(enumerated(), a.split(sizes, dim=1), strict=True):
        items, _ = models.encode(batch, length)
        of_items = items.hidden()[0].transpose(0, 1).flatten(0, 1)  # (n H, P)
        outputs, _ = models.outputs(of_items.unsqueeze(0))
        values = outputs[0].double().unflatten(1, (heads, -1))  # (n, H, D / H)
        weights = torch.stack([torch.full_like(batch_a, 1 / number), batch_a, number * batch_a.square()])  # (3, H, n)
        means = torch.stack([torch.einsum("khn,nhd->khd", weights, of) for of in (values, values.square())])
        sums.append(means.flatten(2))  # (2, 3, D)
    of_values, of_squares = torch.stack(sums).sum(0)

    mean, mu, squared = of_values  # E[V], mu, E[(M a)^2 V]
    mean_square, _, squared_square = of_squares
    total = number * a.square().sum(1).repeat_interleave(len(mean) // heads)
    item_variance = mean_square - mean.square()
    constant = squared_square - 2 * mu * squared + mu.square() * total
    return Expected(item_variance.cpu().numpy(), constant.cpu().numpy())
