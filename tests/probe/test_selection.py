import pytest
from transformers import BertConfig, LlamaConfig

from vanishing_variance.core.errors import InputError
from vanishing_variance.probe.config import Probe
from vanishing_variance.probe.selection import select

CONFIGS = {
    "bert": BertConfig(num_hidden_layers=6, num_attention_heads=12, hidden_size=384, max_position_embeddings=512),
    "llama": LlamaConfig(num_hidden_layers=6, num_attention_heads=12, hidden_size=96, head_dim=32),
}
CONFIGS["llama"].max_position_embeddings = 512


def settings(**changed):
    given = {"lengths": [16, 512], "sequences": 2, "layers": [5, 0], "heads": [11], "components": 32}
    return Probe(model="tiny", revision=None, text="words", **(given | changed))


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_all_or_those_that_are_listed(config):
    assert select(settings(), config) == ([5, 0], [11])
    assert select(settings(layers="all", heads="all"), config) == (list(range(6)), list(range(12)))


@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("layers", [0, 6], "probe.layers[1] is 6; must be at most 5: tiny has 6 layers"),
        ("heads", [12], "probe.heads[0] is 12; must be at most 11: tiny has 12 heads in a layer"),
        ("lengths", [16, 513], "probe.lengths[1] is 513; must be at most 512: the positions of tiny"),
        ("components", 33, "probe.components is 33; must be at most 32, the width of tiny's heads"),
    ],
)
def test_what_the_model_does_not_have_is_refused_in_one_line(config, key, value, said):
    with pytest.raises(InputError) as refused:
        select(settings(**{key: value}), config)
    assert str(refused.value) == f"params.yaml: {said}"
