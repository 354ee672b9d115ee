"""Expectations over one item of a task's distribution, with the query fixed: what Proposition 1 reasons with.

M items of the distribution (all as probable), n of them at a time, D width.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float64

from vanishing_variance.engine.attention import attend
from vanishing_variance.engine.task import Sequences
from vanishing_variance.measure.inference.models import Models


@dataclass(frozen=True)
class Expected:
    """Of each feature d. l is an item's logit and V_d a feature of its value, centred or not.

    `item_variance` is the paper's sigma_d^2 = Var(V_d). `constant` is the delta method's limit of N Var(O_d): O_d is
    the mean of e^l V_d in a sequence over that of e^l, so it is Var(e^l (V_d - mu_d)) / (E e^l)^2 with
    mu_d = E[e^l V_d] / E[e^l], the limit of O_d itself.

    It is at most (max e^l / E e^l)^2 sigma_d^2, the limit of N times the paper's bound, however A and V depend on each
    other: with w = e^l / max e^l <= 1, E[w^2 (V - mu)^2] <= E[w (V - mu)^2] <= E[w (V - E V)^2] <= sigma^2.
    """

    item_variance: Float64[np.ndarray, " D"]
    constant: Float64[np.ndarray, " D"]


@torch.no_grad()
def expected(models: Models, enumerated: Callable[[], Iterable[Sequences]]) -> Expected:
    """Return expectations of one model (S = 1) over the items that `enumerated` gives, which is gone through twice.

    With a = softmax(l) over the M items, e^l / E e^l = M a: no exponential is formed that could overflow.
    """
    logits = [attend(*models.encode(part))[0][0, 0].double() for part in enumerated()]
    share = torch.softmax(torch.cat(logits), dim=0)
    number, sums = len(share), []
    for part, a in zip(enumerated(), share.split([len(one) for one in logits]), strict=True):
        items, _ = models.encode(part)
        values = models.network.outputs(models.weights, items.hidden()[:, 0])[0].double()
        weights = torch.stack([torch.full_like(a, 1 / number), a, number * a.square()])  # (3, n)
        sums.append(torch.stack([weights @ values, weights @ values.square()]))
    (mean, mu, squared), (of_squares, _, squared_of_squares) = torch.stack(sums).sum(0)
    constant = squared_of_squares - 2 * mu * squared + mu.square() * (number * share.square().sum())
    return Expected((of_squares - mean.square()).cpu().numpy(), constant.cpu().numpy())
