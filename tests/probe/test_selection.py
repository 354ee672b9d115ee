import pytest
from transformers import BertConfig, LlamaConfig

from vanishing_variance.harness.errors import InputError
from vanishing_variance.probe.config import Probe
from vanishing_variance.probe.selection import select

SIZES = {"num_hidden_layers": 6, "num_attention_heads": 12, "max_position_embeddings": 512}
# The width of a head is 32 in both: a quotient, and a setting of its own.
CONFIGS = [BertConfig(**SIZES, hidden_size=384), LlamaConfig(**SIZES, hidden_size=96, head_dim=32)]


@pytest.mark.parametrize("config", CONFIGS)
def test_what_the_model_has_is_selected_and_what_it_does_not_have_is_refused_in_one_line(config):
    given = {"lengths": [16, 512], "sequences": 2, "layers": [5, 0], "heads": [11], "components": 32}
    given |= {"model": "tiny", "revision": None, "text": "words"}
    assert select(Probe(**given), config) == ([5, 0], [11])
    everything = Probe(**given | {"layers": "all", "heads": "all"})
    assert select(everything, config) == (list(range(6)), list(range(12)))
    for key, value, said in (
        ("layers", [0, 6], "layers[1] is 6; must be at most 5: tiny has 6 layers"),
        ("heads", [12], "heads[0] is 12; must be at most 11: tiny has 12 heads in a layer"),
        ("lengths", [16, 513], "lengths[1] is 513; must be at most 512: the positions of tiny"),
        ("components", 33, "components is 33; must be at most 32, the width of tiny's heads"),
    ):
        with pytest.raises(InputError) as refused:
            select(Probe(**given | {key: value}), config)
        assert str(refused.value) == f"params.yaml: probe.{said}"
