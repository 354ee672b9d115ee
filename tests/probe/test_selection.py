import re

import pytest
from transformers import BertConfig, LlamaConfig

from vanishing_variance.harness.errors import InputError
from vanishing_variance.probe.config import Probe
from vanishing_variance.probe.selection import select

SIZES = {"num_hidden_layers": 6, "num_attention_heads": 12, "max_position_embeddings": 512}
# The width of a head is 32 in both: a quotient, and a setting of its own.
CONFIGS = [BertConfig(**SIZES, hidden_size=384), LlamaConfig(**SIZES, hidden_size=96, head_dim=32)]


def settings(**changes):
    given = {"lengths": [16, 512], "sequences": 2, "layers": [5, 0], "heads": [11], "components": 32}
    return Probe(model="tiny", revision=None, text="words", **{**given, **changes})


@pytest.mark.parametrize("config", CONFIGS)
def test_what_the_model_has_is_selected(config):
    assert select(settings(), config) == ([5, 0], [11])
    assert select(settings(layers="all", heads="all"), config) == (list(range(6)), list(range(12)))


@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("layers", [0, 6], "layers has 6; must be at most 5: tiny has 6 layers"),
        ("heads", [12], "heads has 12; must be at most 11: tiny has 12 heads in a layer"),
        ("lengths", [16, 513], "lengths has 513; must be at most 512: the positions of tiny"),
        ("components", 33, "components has 33; must be at most 32: the width of tiny's heads"),
    ],
)
def test_what_it_does_not_have_is_refused_in_one_line(config, key, value, said):
    with pytest.raises(InputError, match=re.escape(f"params.yaml: probe.{said}")):
        select(settings(**{key: value}), config)
