"""A falling rate on the dictionary by hand, without the package: `python studies/best/by_hand.py SEED ...`.

The paper's network with biases, `none` and `ln`, torch's Adam, half a cosine to 0, other random numbers. Independent of
what made the study `averaging`, whose lines have 74.2 [72.7, 75.7] and 62.1 [60.6, 63.7] beyond training.
"""

import math
import sys

import torch
from torch import nn

KEYS, VALUES, EMBEDDED, WIDTH, STEPS = 16384, 64, 64, 128, 10_000
LENGTHS = [2**exponent for exponent in range(4, 15)]
TESTED = 256


class LayerNorm(nn.Module):
    """The paper's: epsilon is added to the standard deviation."""

    def __init__(self) -> None:
        super().__init__()
        self.scale, self.shift = nn.Parameter(torch.ones(WIDTH)), nn.Parameter(torch.zeros(WIDTH))

    def forward(self, outputs: torch.Tensor) -> torch.Tensor:
        """Return the normalised outputs."""
        deviation = outputs.std(-1, correction=0, keepdim=True)
        return self.scale * (outputs - outputs.mean(-1, keepdim=True)) / (deviation + 1e-5) + self.shift


class Network(nn.Module):
    """Items and query by an MLP each, one query's attention over the items, a normaliser, W_O, an MLP to classes."""

    def __init__(self, norm: nn.Module) -> None:
        super().__init__()
        self.keys, self.values = nn.Embedding(KEYS, EMBEDDED), nn.Embedding(VALUES, EMBEDDED)
        for table in (self.keys, self.values):
            nn.init.normal_(table.weight, std=0.125)
        self.item, self.asked = mlp(2 * EMBEDDED, WIDTH), mlp(EMBEDDED, WIDTH)
        self.query, self.value = nn.Linear(WIDTH, WIDTH), nn.Linear(WIDTH, WIDTH)
        self.key = nn.Linear(WIDTH, WIDTH, bias=False)
        self.norm, self.output, self.head = norm, nn.Linear(WIDTH, WIDTH), mlp(WIDTH, VALUES)

    def forward(self, key: torch.Tensor, value: torch.Tensor, query: torch.Tensor) -> torch.Tensor:
        """Return the class logits."""
        items = self.item(torch.cat((self.keys(key), self.values(value)), dim=-1))
        asked = self.query(self.asked(self.keys(query))).unsqueeze(1)
        logits = asked @ self.key(items).mT / WIDTH**0.5
        outputs = (logits.softmax(-1) @ self.value(items)).squeeze(1)
        return self.head(self.output(self.norm(outputs)))


def mlp(inputs: int, outputs: int) -> nn.Sequential:
    """Return two linear layers with GELU between them."""
    return nn.Sequential(nn.Linear(inputs, WIDTH), nn.GELU(), nn.Linear(WIDTH, outputs))


def sequences(number: int, length: int) -> tuple[torch.Tensor, ...]:
    """Return different keys, values, queries, and the values that stand beside them."""
    key = torch.rand(number, KEYS).argsort(1)[:, :length] if length > 64 else distinct(number, length)
    value, place = torch.randint(VALUES, (number, length)), torch.randint(length, (number, 1))
    return key, value, key.gather(1, place).squeeze(1), value.gather(1, place).squeeze(1)


def distinct(number: int, length: int) -> torch.Tensor:
    """Return rows of different keys: those with a repeat are drawn again."""
    key = torch.randint(KEYS, (number, length))
    while len(again := (key.sort().values.diff() == 0).any(1).nonzero().squeeze(1)):
        key[again] = torch.randint(KEYS, (len(again), length))
    return key


@torch.no_grad()
def accuracy(network: Network, length: int) -> float:
    """Return the percentage of correct answers to TESTED sequences."""
    size, correct = min(TESTED, 2**17 // length), 0.0
    for _ in range(TESTED // size):
        *inputs, label = sequences(size, length)
        correct += (network(*inputs).argmax(-1) == label).sum().item()
    return 100 * correct / TESTED


def main() -> None:
    """Train and test each seed with and without LayerNorm."""
    torch.set_num_threads(1)
    for seed in map(int, sys.argv[1:]):
        for name, norm in (("none", nn.Identity()), ("ln", LayerNorm())):
            torch.manual_seed(seed)
            network = Network(norm)
            adam = torch.optim.Adam(network.parameters(), lr=1e-3, fused=True)
            falls = torch.optim.lr_scheduler.LambdaLR(adam, lambda step: (1 + math.cos(math.pi * step / STEPS)) / 2)
            for _ in range(STEPS):
                *inputs, label = sequences(128, int(torch.randint(5, 17, ())))
                loss = nn.functional.cross_entropy(network(*inputs), label)
                adam.zero_grad()
                loss.backward()
                adam.step()
                falls.step()
            percent = [accuracy(network, length) for length in LENGTHS]
            beyond = sum(percent[1:]) / len(percent[1:])
            print(f"{name}, seed {seed}: beyond {beyond:.1f};", *(f"{value:.1f}" for value in percent), flush=True)


if __name__ == "__main__":
    main()
