"""The keys `norm` and `attention` and the sections `model` and `training` of params.yaml."""

from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, BeforeValidator, Field, model_validator

from vanishing_variance.engine import registry
from vanishing_variance.harness.sections import Count, NotNegative, Positive, Section, Several, increasing


def _treatment(norm: Any) -> Any:
    treatments = [name for name in registry.names("norms") if name != "none"]
    if norm not in treatments:
        why = registry.why_unknown("norms", norm)
        raise ValueError(f"one of {', '.join(treatments)}; none is what each is compared with{why}")
    return norm


def _softmax(attention: Any) -> Any:
    choices = registry.softmax_names()
    if attention not in choices:
        why = registry.why_unknown("attentions", attention)
        raise ValueError(f"one of {', '.join(choices)}, which are a softmax; others: a study{why}")
    return attention


# The treatment, a normaliser that is compared with none at all.
Norm = Annotated[str, BeforeValidator(_treatment)]
# The attention map of every model of the study.
Attention = Annotated[str, BeforeValidator(_softmax)]


class Model(Section):
    """The network's width D, the epsilon that normalisers add to what they divide by, and what the paper leaves open.

    `heads`: of attention, each with as many features of queries, keys and values; they must divide D.
    `attention_biases`: whether W_Q, W_V and W_O have a bias; W_K's would add the same to every logit.
    `scaled_logits`: whether logits are divided by sqrt(D / heads), as Section 1 has it for one head.
    `output_projection`: whether there is a W_O (Section 1); without, the MLP to the classes reads the normalised O.
    `projection`: what keys, values and query are made of, `mlp`, the paper's, or `direct`, the features themselves.
    """

    width: Several
    heads: Count
    epsilon: NotNegative
    attention_biases: bool
    scaled_logits: bool
    output_projection: bool
    projection: Literal["mlp", "direct"]

    @model_validator(mode="after")
    def _divided(self) -> Self:
        if self.width % self.heads:
            raise ValueError(f"heads that divide width, not {self.heads} of {self.width}")
        return self


class Training(Section):
    """The optimiser, which weights are kept beside the last ones, and how many seeds one CPU process trains at once.

    `decay`: how the learning rate falls, `none` or to 0 along half a `cosine` (Loshchilov and Hutter 2017).
    `averaged_part`: the last part of the steps, a fraction, over which weights are averaged as well (Polyak and
    Juditsky 1992); 0: not at all. `kept_steps`: after which the weights are kept as well, those that a training makes.
    """

    batch_size: Count
    learning_rate: Positive
    weight_decay: NotNegative
    decay: Literal["none", "cosine"]
    averaged_part: Annotated[float, Field(ge=0, lt=1)]
    kept_steps: Annotated[list[Count], AfterValidator(increasing)]
    seeds_per_process: Count
