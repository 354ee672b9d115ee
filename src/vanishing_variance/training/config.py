"""The section `training` of params.yaml."""

from vanishing_variance.core.config import Count, NotNegative, Positive, Section


class Training(Section):
    """The optimiser, and how many seeds one CPU process trains at once."""

    batch_size: Count
    learning_rate: Positive
    weight_decay: NotNegative
    seeds_per_process: Count
