"""What is trained and how: the sections `model` and `training` of params.yaml."""

from typing import Annotated

from pydantic import Field

from vanishing_variance.params.base import Count, Positive, Section


class Model(Section):
    """The network's width D, and the epsilon that normalisers add to what they divide by."""

    width: Annotated[int, Field(ge=2)]
    epsilon: Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Training(Section):
    """The optimiser, and how many seeds one CPU process trains at once."""

    batch_size: Count
    learning_rate: Positive
    weight_decay: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    seeds_per_process: Count
