"""The section `training` of params.yaml."""

from typing import Literal

from vanishing_variance.core.config import Count, NotNegative, Positive, Section


class Training(Section):
    """The optimiser, and how many seeds one CPU process trains at once.

    `decay`: how the learning rate falls, `none` or to 0 along half a `cosine` (Loshchilov and Hutter 2017).
    """

    batch_size: Count
    learning_rate: Positive
    weight_decay: NotNegative
    decay: Literal["none", "cosine"]
    seeds_per_process: Count
