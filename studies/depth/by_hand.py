"""The lines `two-none` and `four-none` by hand, without the package: `python studies/depth/by_hand.py LAYERS SEED ...`.

torch's own encoder, its Adam, other random numbers. Independent of what made their results, which have 93.8 [92.6,
94.9] and 94.5 [93.1, 95.9] beyond training, 78.9 [75.7, 82.0] and 80.8 [76.2, 85.5] at 2^12. Printed on an AMD
EPYC (Zen 5):

    2 layers, seed 1: beyond training 95.2; 100.0 100.0 99.6 99.2 98.8 97.3 94.5 89.5 82.4
    2 layers, seed 2: beyond training 92.0; 100.0 99.2 99.2 99.6 98.0 93.8 89.1 82.0 75.0
    4 layers, seed 1: beyond training 95.9; 100.0 100.0 99.6 99.6 100.0 99.2 96.5 90.6 81.6
    4 layers, seed 2: beyond training 91.5; 100.0 99.6 99.6 98.0 97.3 95.7 89.1 78.9 73.4
"""

import sys

import torch
from torch import nn

KEYS, VALUES, EMBEDDED, WIDTH = 16384, 64, 64, 128
LENGTHS = [2**exponent for exponent in range(4, 13)]
TESTED = 256


class Network(nn.Module):
    """Items and query as tokens, `count` layers, the class of the query's token."""

    def __init__(self, count: int) -> None:
        super().__init__()
        self.keys, self.values = nn.Embedding(KEYS, EMBEDDED), nn.Embedding(VALUES, EMBEDDED)
        for table in (self.keys, self.values):
            nn.init.normal_(table.weight, std=0.125)
        self.item, self.query = nn.Linear(2 * EMBEDDED, WIDTH), nn.Linear(EMBEDDED, WIDTH)
        layers = [
            nn.TransformerEncoderLayer(WIDTH, 4, 4 * WIDTH, 0.0, "gelu", batch_first=True, norm_first=True)
            for _ in range(count)
        ]
        for layer in layers:
            begin_as_linear(layer.self_attn)
        self.layers = nn.ModuleList(layers)
        self.norm, self.head = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, VALUES)

    def forward(self, key: torch.Tensor, value: torch.Tensor, query: torch.Tensor) -> torch.Tensor:
        """Return the class logits."""
        items = self.item(torch.cat((self.keys(key), self.values(value)), dim=-1))
        tokens = torch.cat((items, self.query(self.keys(query)).unsqueeze(1)), dim=1)
        for layer in self.layers:
            tokens = layer(tokens)
        logits: torch.Tensor = self.head(self.norm(tokens[:, -1]))
        return logits


def begin_as_linear(attention: nn.MultiheadAttention) -> None:
    """Draw initial weights and biases as nn.Linear does."""
    for tensor in (attention.in_proj_weight, attention.in_proj_bias, attention.out_proj.bias):
        if tensor is not None:  # which torch allows
            nn.init.uniform_(tensor, -(WIDTH**-0.5), WIDTH**-0.5)


def sequences(number: int, length: int) -> tuple[torch.Tensor, ...]:
    """Return keys without replacement, values, queries, and the values that stand beside them."""
    key = torch.rand(number, KEYS).topk(length).indices if length > 64 else distinct(number, length)
    value, place = torch.randint(VALUES, (number, length)), torch.randint(length, (number, 1))
    return key, value, key.gather(1, place).squeeze(1), value.gather(1, place).squeeze(1)


def distinct(number: int, length: int) -> torch.Tensor:
    """Return rows of different keys: those with a repeat are drawn again."""
    key = torch.randint(KEYS, (number, length))
    while len(again := (key.sort().values.diff() == 0).any(1).nonzero().squeeze(1)):
        key[again] = torch.randint(KEYS, (len(again), length))
    return key


def accuracy(network: Network, length: int) -> float:
    """Return the percentage of correct answers to TESTED sequences."""
    size, correct = min(TESTED, 2**14 // length), 0
    for _ in range(TESTED // size):
        *inputs, label = sequences(size, length)
        correct += (network(*inputs).argmax(-1) == label).sum().item()
    return 100 * correct / TESTED


def main() -> None:
    """Train and test each seed."""
    torch.set_num_threads(1)
    layers, *seeds = map(int, sys.argv[1:])
    for seed in seeds:
        torch.manual_seed(seed)
        network = Network(layers)
        adam = torch.optim.Adam(network.parameters(), lr=1e-3, fused=True)
        for _ in range(10_000):
            *inputs, label = sequences(128, int(torch.randint(5, 17, ())))
            loss = nn.functional.cross_entropy(network(*inputs), label)
            adam.zero_grad()
            loss.backward()
            adam.step()
        network.eval()
        with torch.no_grad():
            percent = [accuracy(network, length) for length in LENGTHS]
        print(
            f"{layers} layers, seed {seed}: beyond training {sum(percent[1:]) / 8:.1f}; "
            + " ".join(f"{x:.1f}" for x in percent),
            flush=True,
        )


if __name__ == "__main__":
    main()
