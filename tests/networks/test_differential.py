"""Differential attention is its equation, the rest the paper's network."""

import pytest
import torch
from torch import nn

from vanishing_variance.networks import Sizes, differential, paper

SIZES = Sizes(items=5, query=2, classes=6)


def made(module, **options):
    torch.manual_seed(0)
    network = module.Network(SIZES, lambda width: nn.Identity(), width=8, **options).double()
    return network.requires_grad_(False)


@pytest.mark.parametrize("projection", ["mlp", "direct"])
def test_weights_are_one_softmax_less_a_part_of_another(projection):
    generator = torch.Generator().manual_seed(1)
    items, query = (torch.randn(*shape, generator=generator, dtype=torch.float64) for shape in ((3, 7, 5), (3, 2)))
    network = made(differential, projection=projection)
    network.subtracted.fill_(0.3)
    two_heads = made(paper, projection=projection, heads=2)
    two_heads.load_state_dict({name: tensor for name, tensor in network.state_dict().items() if name != "subtracted"})

    [layer] = network.inside(items, query)
    first, second = two_heads.inside(items, query)[0].weights.unbind(1)
    weights = first - 0.3 * second
    torch.testing.assert_close(layer.weights, weights.unsqueeze(1))
    values = network.attention["value"](network.item(items))
    outputs = torch.einsum("bn,bnd->bd", weights, values)
    torch.testing.assert_close(layer.outputs, outputs.unsqueeze(1))
    logits = network.head(network.attention["output"](outputs))
    torch.testing.assert_close(network(items, query), logits)
