import numpy as np
import pytest
from small import make_short, start


def test_linear_layers_start_as_torchs_do():
    weights = {name: tensor.numpy() for name, tensor in start(make_short("argmax"), range(40)).items()}
    weight, bias = weights["head.2.weight"], weights["head.2.bias"]
    assert weight.shape == (40, 10, 16)
    assert bias.shape == (40, 10)
    for tensor in (weight, bias):  # U(-1, 1) / sqrt(16)
        assert np.abs(tensor).max() == pytest.approx(1 / 4, rel=0.05)
        assert tensor.std() == pytest.approx(1 / 4 / 3**0.5, rel=0.05)


def test_embeddings_have_the_standard_deviation_of_params_yaml():
    embeddings = start(make_short("dictionary"), range(4))["embedding.key"].numpy()
    assert embeddings.shape == (4, 256, 16)
    assert embeddings.std() == pytest.approx(0.25, rel=0.02)
