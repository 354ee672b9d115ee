"""The sections `model` and `training` of params.yaml."""

from typing import Literal

from vanishing_variance.harness.sections import Count, NotNegative, Positive, Section, Several


class Model(Section):
    """The network's width D, the epsilon that normalisers add to what they divide by, and what the paper leaves open.

    `projection`: how items and query become keys, values and query (`model.network`).
    `gelu`: the form of every GELU. `initialisation`: of linear layers (`model.initialisation`). `attention_biases`:
    whether W_Q, W_V and W_O have a bias; W_K's would add the same to every logit. `scaled_logits`: whether logits are
    divided by sqrt(D), as Section 1 has it; without effect where queries and keys are divided by their norms.
    `output_projection`: whether there is a W_O (Section 1); without, the MLP to the classes reads the normalised O.
    """

    width: Several
    epsilon: NotNegative
    gelu: Literal["exact", "tanh"]
    initialisation: Literal["torch", "lecun", "xavier"]
    attention_biases: bool
    scaled_logits: bool
    output_projection: bool
    projection: Literal["mlp", "direct", "qk_norm", "tied_qk_norm"]


class Training(Section):
    """The optimiser, and how many seeds one CPU process trains at once.

    `decay`: how the learning rate falls, `none` or to 0 along half a `cosine` (Loshchilov and Hutter 2017).
    """

    batch_size: Count
    learning_rate: Positive
    weight_decay: NotNegative
    decay: Literal["none", "cosine"]
    seeds_per_process: Count
