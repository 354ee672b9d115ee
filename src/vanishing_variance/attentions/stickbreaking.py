"""Stick-breaking attention (Tan et al. 2024), beyond the paper: each item breaks its share off what is left of a stick.

w_i = beta_i prod_{j > i} (1 - beta_j), beta = sigmoid(z): the last item is the first in line, as the query comes after
all items, whose order is that in which they are drawn. So the weights depend on the order, although the task's answer
does not. In log space, as published. What is left of the stick is given to no item: the weights add up to
1 - prod_j (1 - beta_j), at most 1.
"""

from collections.abc import Mapping

from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import logsigmoid, pad

LEARNABLE: Mapping[str, float] = {}


def weights(logits: Float[Tensor, "S B N"], parameters: Mapping[str, Float[Tensor, "S 1 1"]]) -> Float[Tensor, "S B N"]:
    """Return exp(log beta_i + sum_{j > i} log(1 - beta_j))."""
    in_line = logits.flip(-1)
    # Shifted by one: an inclusive sum less its last term would lose what is small beside a large logit.
    log_left = pad(logsigmoid(-in_line[..., :-1]).cumsum(-1), (1, 0))
    return (logsigmoid(in_line) + log_left).exp().flip(-1)
