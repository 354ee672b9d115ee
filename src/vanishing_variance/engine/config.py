"""The key `norm` and the sections `model` and `training` of params.yaml."""

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator

from vanishing_variance.engine import registry
from vanishing_variance.harness.sections import Count, NotNegative, Positive, Section, Several


def _treatment(norm: Any) -> Any:
    treatments = [name for name in registry.norm_names() if name != "none"]
    if norm not in treatments:
        raise ValueError(f"one of {', '.join(treatments)}; none is what each is compared with")
    return norm


# The treatment, a normaliser that is compared with none at all.
Norm = Annotated[str, BeforeValidator(_treatment)]


class Model(Section):
    """The network's width D, the epsilon that normalisers add to what they divide by, and what the paper leaves open.

    `attention_biases`: whether W_Q, W_V and W_O have a bias; W_K's would add the same to every logit.
    `scaled_logits`: whether logits are divided by sqrt(D), as Section 1 has it. `output_projection`: whether there is a
    W_O (Section 1); without, the MLP to the classes reads the normalised O. `projection`: what keys, values and query
    are made of, `mlp`, the paper's, or `direct`, the features themselves.
    """

    width: Several
    epsilon: NotNegative
    attention_biases: bool
    scaled_logits: bool
    output_projection: bool
    projection: Literal["mlp", "direct"]


class Training(Section):
    """The optimiser, and how many seeds one CPU process trains at once.

    `decay`: how the learning rate falls, `none` or to 0 along half a `cosine` (Loshchilov and Hutter 2017).
    """

    batch_size: Count
    learning_rate: Positive
    weight_decay: NotNegative
    decay: Literal["none", "cosine"]
    seeds_per_process: Count
