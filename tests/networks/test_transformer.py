"""The Transformer is torch's, where torch has it; the rest is its formula."""

from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from plain_plans import make_plain
from torch import nn
from torch.nn.functional import cosine_similarity

from vanishing_variance.attentions import softmax
from vanishing_variance.engine import registry
from vanishing_variance.measure.inference.temperature import POLYNOMIAL
from vanishing_variance.measure.plain_models.rules import by_rules
from vanishing_variance.networks import AttentionMap, NormModule, Sizes, transformer
from vanishing_variance.networks.paper import Network as PaperNetwork
from vanishing_variance.networks.transformer import Network
from vanishing_variance.plain.model import initial_model

B, N, HEADS, WIDTH = 3, 7, 4, 16
SIZES = Sizes(items=5, query=2, classes=6)


def identity(width):
    return nn.Identity()


def made(norm=identity, attention="softmax", **options):
    torch.manual_seed(0)
    attention = partial(AttentionMap, registry.load("attentions", attention))
    return Network(SIZES, norm, attention, **{"heads": HEADS, "width": WIDTH} | options).double()


def drawn():
    generator = torch.Generator().manual_seed(1)
    return [torch.randn(*shape, generator=generator, dtype=torch.float64) for shape in ((B, N, 5), (B, 2))]


def attention_and_tokens(norm=identity, **options):
    """Return the attention of a network of one layer, and the tokens that it may read."""
    tokens = torch.randn(B, N + 1, WIDTH, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    return made(norm, layers=1, **options).blocks[0].attention, tokens


def by_head(attention, tokens):
    """Return queries, keys and values (B, N + 1, H, d)."""
    layers = attention.query, attention.key, attention.value
    return [layer(tokens).unflatten(2, (HEADS, -1)) for layer in layers]


def attention_state(block):
    ours = block.attention
    projections = ours.query, ours.key, ours.value
    return {
        "in_proj_weight": torch.cat([projection.weight for projection in projections]),
        "in_proj_bias": torch.cat([projection.bias for projection in projections]),
        "out_proj.weight": ours.output.weight,
        "out_proj.bias": ours.output.bias,
    }


def torchs(block):
    """nn.TransformerEncoderLayer with the same weights."""
    options = {"dropout": 0.0, "activation": "gelu", "batch_first": True, "norm_first": not block.after}
    layer = nn.TransformerEncoderLayer(WIDTH, HEADS, 4 * WIDTH, **options, dtype=torch.float64)
    layer.self_attn.load_state_dict(attention_state(block))
    pairs = (layer.linear1, block.mlp[0]), (layer.linear2, block.mlp[2]), (layer.norm1, block.norm1)
    for their_part, our_part in (*pairs, (layer.norm2, block.norm2)):
        their_part.load_state_dict(our_part.state_dict())
    return layer


def assert_same(found, expected):
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("options", [{}, {"pre_norm": False, "post_norm": True}])
def test_layers_are_torchs_encoder_layers(options):
    network, inputs = made(**options), drawn()
    tokens = network.tokens(*inputs)
    for block in network.blocks:
        expected = torchs(block)(tokens)
        assert_same(block(tokens, N + 1), expected)
        assert_same(block(tokens, 1), expected[:, -1:])
        tokens = expected
    assert_same(network(*inputs), network.head(network.last_norm(tokens[:, -1])))


def test_layers_or_classes_alone_may_have_a_norm_before_them():
    both = {name for name, _ in made().named_parameters() if "norm" in name}
    of = {}
    for place in ("layers", "classes", False):
        of[place] = {name for name, _ in made(pre_norm=place).named_parameters() if "norm" in name}
    assert of["classes"] == {"last_norm.weight", "last_norm.bias"}
    assert of["layers"] == both - of["classes"]
    assert of[False] == set()


@pytest.mark.parametrize("options", [{}, {"pre_norm": False, "post_norm": True}])
def test_the_inside_is_that_of_attention_state(options):
    network, inputs = made(**options), drawn()
    tokens = network.tokens(*inputs)
    for block, layer in zip(network.blocks, network.inside(*inputs), strict=True):
        theirs, normed = torchs(block), tokens if options else block.norm1(tokens)
        _, weights = theirs.self_attn(normed, normed, normed, average_attn_weights=False)
        assert_same(layer.weights, weights[:, :, -1, :-1])
        values = block.attention.value(normed).unflatten(2, (HEADS, -1))
        assert_same(layer.outputs, torch.einsum("bhn,bnhd->bhd", weights[:, :, -1], values))
        tokens = theirs(tokens)


class Tripled(nn.Module):
    """A normaliser that can be followed."""

    def __init__(self, width):
        super().__init__()
        self.width = width

    def forward(self, outputs):
        self.shape = tuple(outputs.shape)
        return 3 * outputs


@pytest.mark.parametrize(
    ("place", "width", "shape"),
    [("outputs", 16, (B, 1, 16)), ("head", 4, (B, 1, HEADS, 4)), ("projected", 16, (B, 1, 16))],
)
def test_the_normaliser_is_at_its_place(place, width, shape):
    attention, tokens = attention_and_tokens(Tripled, norm_place=place)
    outputs = attention.inside(tokens).outputs.flatten(1)
    expected = 3 * attention.output(outputs) if place == "projected" else attention.output(3 * outputs)
    assert_same(attention(tokens, 1).squeeze(1), expected)
    assert (attention.norm.width, attention.norm.shape) == (width, shape)


@pytest.mark.parametrize(("gate", "numbers"), [("elementwise", WIDTH), ("headwise", HEADS)])
def test_the_gate_is_a_sigmoid_of_what_the_query_is_made_of(gate, numbers):
    """Y' = Y * sigmoid(X W), after the normaliser and before W_O."""
    attention, tokens = attention_and_tokens(Tripled, gate=gate)
    assert attention.gate.weight.shape == (numbers, WIDTH)
    assert attention.gate.bias is None
    gates = torch.sigmoid(tokens[:, -1] @ attention.gate.weight.T)
    gates = gates.repeat_interleave(WIDTH // numbers, dim=1)
    outputs = attention.inside(tokens).outputs.flatten(1)
    assert_same(attention(tokens, 1).squeeze(1), attention.output(3 * outputs * gates))


def test_head_scale_is_one_number_a_head():
    """NormFormer: W_O of c_h o_h side by side, c_h at first 1."""
    attention, tokens = attention_and_tokens(Tripled, gate="scale")
    assert attention.scale.flatten().tolist() == [1] * HEADS
    numbers = torch.arange(1.0, HEADS + 1, dtype=torch.float64)
    attention.scale.data.copy_(numbers.unsqueeze(1))
    heads = attention.inside(tokens).outputs.unbind(1)
    scaled = [3 * number * outputs for number, outputs in zip(numbers, heads, strict=True)]
    assert_same(attention(tokens, 1).squeeze(1), attention.output(torch.cat(scaled, dim=1)))


def test_a_sink_takes_weight_and_gives_no_value():
    """gpt-oss: weights exp(l_n) / (exp(s_h) + sum_m exp(l_m)), for every token."""
    attention, tokens = attention_and_tokens(sink=True)
    assert attention.sink.flatten().tolist() == [0] * HEADS
    attention.sink.data.copy_(torch.arange(1.0, HEADS + 1).view(-1, 1, 1))
    query, key, value = by_head(attention, tokens)
    powers = torch.exp(torch.einsum("bthd,bnhd->bhtn", query, key) / (WIDTH // HEADS) ** 0.5)
    weights = powers / (attention.sink.exp() + powers.sum(-1, keepdim=True))
    outputs = torch.einsum("bhtn,bnhd->bthd", weights, value)
    assert_same(attention(tokens, N + 1), attention.output(outputs.flatten(2)))
    layer = attention.inside(tokens)
    assert_same(layer.weights, weights[:, :, -1, :-1])
    assert_same(layer.outputs, outputs[:, -1])


def test_with_the_papers_ends_it_is_the_papers_network_but_for_the_querys_own_token():
    """O is the paper's, of the weight that is left to the items, and the token's own value."""
    options = {"layers": 1, "residual": False, "pre_norm": False, "mlp": False, "ends": "mlp"}
    network, inputs = made(Tripled, **options), drawn()
    paper = PaperNetwork(SIZES, Tripled, partial(AttentionMap, softmax), width=WIDTH, heads=HEADS).double()
    for end in ("item", "query", "head"):
        getattr(paper, end).load_state_dict(getattr(network, end).state_dict())
    [attention] = [block.attention for block in network.blocks]
    for part, projection in paper.attention.items():
        projection.load_state_dict(getattr(attention, part).state_dict(), strict=part != "key")
    tokens = network.tokens(*inputs)
    [theirs] = paper.inside(*inputs)
    ours = attention.inside(tokens)
    among_items = ours.weights / ours.weights.sum(-1, keepdim=True)
    assert_same(among_items, theirs.weights)
    own = 1 - ours.weights.sum(-1, keepdim=True)
    value = attention.value(tokens[:, -1]).unflatten(1, (HEADS, -1))
    outputs = (1 - own) * theirs.outputs + own * value
    assert_same(network(*inputs), paper.head(paper.attention["output"](3 * outputs.flatten(1))))


@pytest.mark.parametrize("sink", [False, True])
def test_weights_of_length_1_add_values_by_them(sink):
    attention, tokens = attention_and_tokens(weights="l2", sink=sink)
    softmax, _ = attention_and_tokens(sink=sink)
    found, plain = attention.inside(tokens), softmax.inside(tokens)
    queries, keys, _ = by_head(attention, tokens)
    logits = torch.einsum("bhd,bnhd->bhn", queries[:, -1], keys) / 2  # d = 4
    if sink:
        logits = torch.nn.functional.pad(logits, (0, 1))  # its logit is 0
    length = torch.linalg.vector_norm(logits.softmax(-1), dim=-1, keepdim=True)
    assert_same(found.weights, plain.weights / length)
    assert_same(found.outputs, plain.outputs / length)
    assert_same(attention(tokens, 1).squeeze(1), attention.output(found.outputs.flatten(1)))


@pytest.mark.parametrize(("weights", "growth"), [("cosine", 1), ("cosine-log", np.log(N + 1) / np.log(16))])
def test_normalised_queries_and_keys_have_a_learned_factor(weights, growth):
    attention, tokens = attention_and_tokens(weights=weights)
    assert attention.factor.unique().tolist() == [8]
    factors = torch.arange(1.0, HEADS + 1, dtype=torch.float64)
    attention.factor.data.copy_(factors.view(-1, 1, 1))
    queries, keys, values = by_head(attention, tokens)
    inside = attention.inside(tokens)
    for head in range(HEADS):
        cosines = cosine_similarity(queries[:, -1:, head], keys[:, :, head], dim=-1)
        expected = (growth * factors[head] * cosines).softmax(-1)
        assert_same(inside.weights[:, head], expected[:, :-1])
        assert_same(inside.outputs[:, head], torch.einsum("bn,bnd->bd", expected, values[:, :, head]))
    assert_same(attention(tokens, 1).squeeze(1), attention.output(inside.outputs.flatten(1)))


def test_logits_times_log_t_are_those_of_longer_queries():
    attention, tokens = attention_and_tokens(weights="log")
    longer, _ = attention_and_tokens()
    for parameter in longer.query.parameters():
        parameter.data *= np.log(N + 1) / np.log(16)
    assert_same(attention.inside(tokens).weights, longer.inside(tokens).weights)
    assert_same(attention(tokens, 1), longer(tokens, 1))


def test_layer_norms_stand_before_or_after():
    with pytest.raises(ValueError, match="with post_norm, pre_norm must be false: pre_norm='layers'"):
        made(pre_norm="layers", post_norm=True)


def logits_and_values(attention, tokens):
    """Return the scaled logits (B, H, T, T) and the values (B, T, H, d), as numpy has them."""
    queries, keys, values = (x.detach().numpy() for x in by_head(attention, tokens))
    return np.einsum("bthd,bnhd->bhtn", queries, keys) / 2, values  # d = 4


def weights_by_hand(attention, logits):
    """Return the weights of each row by its map's own function, a head and a sequence after another."""
    found = np.empty_like(logits)
    learned = dict(attention.map.named_parameters())
    for place in np.ndindex(*logits.shape[:-1]):
        own = {name: value[place[1] % len(value)].view(1, 1, 1) for name, value in learned.items()}
        row = torch.from_numpy(logits[place]).view(1, 1, -1)
        if attention.map.is_softmax:
            weights = (row * attention.map.map.scale(row.shape[-1], own)).softmax(-1)
        else:
            weights = attention.map.map.weights(row, own)
        found[place] = weights.detach().numpy().ravel()
    return found


@pytest.mark.parametrize("name", registry.names("attentions"))
def test_weights_are_those_of_any_attention_map(name, monkeypatch):
    monkeypatch.setattr(transformer, "WEIGHTS_AT_ONCE", 3 * B * HEADS * (N + 1))  # three queries at a time
    attention, tokens = attention_and_tokens(attention=name)
    for number, tensor in enumerate(attention.map.parameters()):
        tensor.data += torch.linspace(0.1, 0.5, len(tensor), dtype=torch.float64) + number
    logits, values = logits_and_values(attention, tokens)
    weights = weights_by_hand(attention, logits)
    assert_same(attention.inside(tokens).weights, torch.from_numpy(weights[:, :, -1, :-1]))
    outputs = np.einsum("bhtn,bnhd->bthd", weights, values).reshape(B, N + 1, WIDTH)
    assert_same(attention(tokens, N + 1), attention.output(torch.from_numpy(outputs)))


class OfHeads:
    """A map of which each head has a number of its own."""

    LEARNABLE, OF_HEADS = {"shift": 0.5}, {"factor": 2.0}

    @staticmethod
    def weights(logits, parameters):
        return torch.sigmoid(parameters["factor"] * logits - parameters["shift"])


class Known:
    """The same map, which knows its rows: those of the heads, one after another, as in the fast engine."""

    LEARNABLE = {"shift": 0.5}

    @staticmethod
    def weights(logits, parameters):
        factors = torch.arange(1.0, HEADS + 1).unsqueeze(1)
        return torch.sigmoid(logits.unflatten(1, (-1, HEADS)) * factors - parameters["shift"]).flatten(1, 2)


def test_each_head_has_its_own_numbers_of_a_map_that_has_them():
    torch.manual_seed(0)
    network = Network(SIZES, identity, partial(AttentionMap, OfHeads), heads=HEADS, width=WIDTH, layers=1).double()
    [attention], [_, tokens] = [block.attention for block in network.blocks], attention_and_tokens()
    attention.map.get_parameter("factor").data.copy_(torch.arange(1.0, HEADS + 1))
    logits, _ = logits_and_values(attention, tokens)
    assert_same(attention.inside(tokens).weights, torch.from_numpy(weights_by_hand(attention, logits)[:, :, -1, :-1]))


def test_the_rows_of_a_map_are_those_of_the_heads_one_after_another():
    own, known = (AttentionMap(one, HEADS).double() for one in (OfHeads, Known))
    own.get_parameter("factor").data.copy_(torch.arange(1.0, HEADS + 1))
    for shape in ((B, HEADS, N), (B, HEADS, N + 1, N)):
        logits = torch.randn(shape, dtype=torch.float64)
        assert_same(known(logits), own(logits))


def adaptive_by_hand(logits):
    """Return softmax(beta logits), beta by numpy.polyval of the entropy, the mean over the heads."""
    powers = np.exp(logits - logits.max(-1, keepdims=True))
    weights = powers / powers.sum(-1, keepdims=True)
    entropy = -(weights * np.log(weights)).sum(-1).mean(1, keepdims=True)
    beta = np.maximum(np.polyval(POLYNOMIAL, entropy), 1)
    assert ((entropy > 0.5) & (beta > 1)).any()
    sharper = np.exp(beta[..., None] * (logits - logits.max(-1, keepdims=True)))
    return sharper / sharper.sum(-1, keepdims=True)


@pytest.mark.parametrize("sink", [False, True])
def test_the_rules_of_the_test_change_the_weights_of_all_tokens(sink):
    plan = make_plain("argmax", "transformer", options={"heads": HEADS, "width": WIDTH, "layers": 1, "sink": sink})
    model = initial_model(plan, 0).double()
    _, tokens = attention_and_tokens()
    found = by_rules(model)
    attention = model.network.blocks[0].attention
    logits, values = logits_and_values(attention, tokens)
    if sink:
        logits = np.pad(logits, ((0, 0),) * 3 + ((0, 1),))  # its logit is 0
    expected = {"adaptive": adaptive_by_hand(logits), "hard": logits == logits.max(-1, keepdims=True)}
    assert found.keys() == expected.keys()
    for rule, weights in expected.items():
        changed = found[rule].network.blocks[0].attention
        outputs = np.einsum("bhtn,bnhd->bthd", weights[..., : N + 1], values).reshape(B, N + 1, WIDTH)
        normalised = attention.norm(torch.from_numpy(outputs))
        assert_same(changed(tokens, N + 1), attention.output(normalised))
    assert model.network.blocks[0].attention.map.rule is None


def test_a_normaliser_that_writes_in_place_leaves_what_it_is_given():
    own = SimpleNamespace(LEARNABLE={}, normalise=lambda outputs, parameters, epsilon: outputs.mul_(2.0))
    given = torch.ones(B, WIDTH)
    doubled = NormModule(own, 0.0, WIDTH)(given)
    assert (given.unique().tolist(), doubled.unique().tolist()) == ([1.0], [2.0])
