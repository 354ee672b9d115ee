"""Things of one's own, as somebody's module has them: well-behaved ones, and others with state, chance and odd types.

`test_ways.py` writes this text to a folder of its own, imports it from there, edits it, and takes the folder away.
"""

import random

import numpy as np
import torch
from torch import nn

from vanishing_variance import Number, OneHot, Task

POWER = 1
WORDS = ["north", "south", "east", "west", "up", "down", "left", "right"]
NUMBERED = {word: number for number, word in enumerate(set(WORDS))}
SEEN = []


def sign(numbers):
    return numbers * POWER


# Tasks


class Largest(Task):
    """The class of the item with the largest number."""

    classes: int = 4
    items = {"number": Number(), "class": OneHot("classes")}
    label_classes = "classes"

    def sample(self, rng, sequences, length):
        number = rng.random((sequences, length), dtype=np.float32)
        return {"number": number, "class": rng.integers(self.classes, size=(sequences, length), dtype=np.uint8)}

    def label(self, batch):
        places = sign(batch["number"]).argmax(axis=1)
        return np.take_along_axis(batch["class"], places[:, None], axis=1)[:, 0].astype(np.int64)


class Balanced(Largest):
    """As many of each class in a batch, sorted."""

    def sample(self, rng, sequences, length):
        batch = super().sample(rng, sequences, length)
        places = batch["number"].argmax(axis=1)
        batch["class"][np.arange(sequences), places] = np.sort(np.arange(sequences) % self.classes)
        return batch


class OddArrays(Largest):
    """Arrays of another order of bytes and of negative strides; classes numbered in the order of a set, once.

    And a label that needs what no network reads.
    """

    def sample(self, rng, sequences, length):
        batch = super().sample(rng, sequences, length)
        number = np.sort(batch["number"], axis=1)[:, ::-1]
        return {"number": number, "class": batch["class"].astype(">i4"), "scale": rng.random((sequences, 3))}

    def label(self, batch):
        order = np.array([NUMBERED[word] % self.classes for word in WORDS])
        labels = super().label(batch) + (batch["scale"].mean(axis=1) > 0.5)
        return order[labels % self.classes].astype(np.int64)


class Reused(Largest):
    """Drawn by torch from a seed of rng, in memory that the next sample overwrites."""

    def sample(self, rng, sequences, length):
        torch.manual_seed(int(rng.integers(2**31)))
        batch = super().sample(rng, sequences, length)
        SEEN[:] = [array for array in SEEN if array.shape == (sequences, length)]
        if not SEEN:
            SEEN.append(np.empty((sequences, length), dtype=np.float32))
        SEEN[0][...] = torch.rand(sequences, length).numpy()
        return batch | {"number": SEEN[0]}


class NumberedAnew(Largest):
    """Classes numbered in the order of a set in each call: other processes have another order."""

    classes: int = 8

    def label(self, batch):
        order = np.array([list(set(WORDS)).index(word) for word in WORDS])
        return order[super().label(batch)]


class Wide(Task):
    """Whether the mean of the items points up: numbers of three features, and of two."""

    items = {"point": Number(3)}
    query = {"cue": Number(2)}
    label_classes = 2

    def sample(self, rng, sequences, length):
        cue = rng.random((sequences, 2), dtype=np.float32)
        return {"point": rng.standard_normal((sequences, length, 3), dtype=np.float32), "cue": cue}

    def label(self, batch):
        return (batch["point"][..., 2].mean(axis=1) > 0).astype(np.int64)


class Chance(Largest):
    """Of Python's generator of random numbers."""

    def sample(self, rng, sequences, length):
        batch = super().sample(rng, sequences, length)
        batch["number"] *= random.random()
        return batch


# Normalisers


class Norm:
    LEARNABLE = {"scale": 1.0}
    more = 0.5

    def normalise(self, outputs, parameters, epsilon):
        return sign(outputs) / (outputs.abs().amax(-1, keepdim=True) + self.more) * parameters["scale"]


class InPlace:
    LEARNABLE = {"epsilon": 1.0}

    def normalise(self, outputs, parameters, epsilon):
        outputs -= outputs.mean(-1, keepdim=True)
        outputs /= outputs.detach().std(-1, keepdim=True) + epsilon
        return outputs * parameters["epsilon"]


class Remembers:
    LEARNABLE = {}

    def __init__(self):
        self.mean = 0.0

    def normalise(self, outputs, parameters, epsilon):
        if outputs.requires_grad:
            self.mean = 0.9 * self.mean + 0.1 * outputs.detach().mean()
        return outputs - self.mean


class RemembersFirst(Remembers):
    def normalise(self, outputs, parameters, epsilon):
        if not SEEN:
            SEEN.append(outputs.detach().mean())
        return outputs - SEEN[0]


class Drawn(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = nn.Parameter(torch.randn(width))

    def forward(self, outputs):
        return sign(outputs) * self.scale


# Attention maps


class Map:
    LEARNABLE = {"sharpness": 1.0}

    def weights(self, logits, parameters):
        positive = torch.nn.functional.softplus(parameters["sharpness"] * sign(logits))
        return positive / positive.sum(-1, keepdim=True)


class InPlaceMap(Map):
    def weights(self, logits, parameters):
        return torch.softmax(logits.mul_(-1), dim=-1)


class Scale:
    LEARNABLE = {"power": 0.1}
    base = 4.0

    def scale(self, items, parameters):
        return (items / self.base) ** parameters["power"] * POWER


class Recent:
    """Which reads the order of the items."""

    LEARNABLE = {"slope": 0.1}

    def weights(self, logits, parameters):
        return torch.softmax(logits - parameters["slope"] * torch.arange(logits.shape[-1]).flip(0), dim=-1)


# Networks


class Bag(nn.Module):
    def __init__(self, sizes, norm, *, signs: list = (1.0,), dropout: float = 0.0):
        super().__init__()
        self.item, self.norm, self.signs = nn.Linear(sizes.items, 8), norm(8), signs
        self.dropout, self.head = nn.Dropout(dropout), nn.Linear(8 + sizes.query, sizes.classes)
        self.prepare()

    def prepare(self):
        pass

    def forward(self, items, query):
        pooled = self.pooled(sign(torch.relu(self.item(items))).mean(dim=1)) * self.signs[0]
        return self.head(torch.cat((self.dropout(self.norm(pooled)), query), dim=1))

    def pooled(self, pooled):
        return pooled


class Odd(Bag):
    """A buffer of whole numbers, which a mean must leave alone, a layer in double precision, and running means."""

    def prepare(self):
        self.register_buffer("prime", torch.tensor(2654435761))
        self.more, self.mean = nn.Linear(8, 8).double(), nn.BatchNorm1d(8)

    def pooled(self, pooled):
        self.mean(pooled.detach())
        pooled = self.more(pooled.double()).float() * (1 + (self.prime % 1000) / 1000)
        return pooled - self.mean.running_mean


class Part(Bag):
    def prepare(self):
        self.part = nn.Parameter(torch.randn(8, 16)[:, :8])

    def pooled(self, pooled):
        return pooled @ self.part


class Half(Bag):
    """Each seed has its own half of the features, which its state does not say; and a class of its own."""

    def prepare(self):
        class Config:
            width = 8

        self.config, self.half = Config(), torch.randperm(8)[:4].tolist()

    def pooled(self, pooled):
        return pooled[:, self.half].repeat(1, 2)


class Counts(Bag):
    def prepare(self):
        SEEN.append(0)

    def pooled(self, pooled):
        SEEN.append(1)
        return pooled + len(SEEN)


class First(Bag):
    """That is set by the first batch it sees, beside its state."""

    seen = None

    def pooled(self, pooled):
        if self.seen is None:
            self.seen = pooled.detach().mean()
        return pooled - self.seen


class Order(Bag):
    """Built in the order of a set."""

    def prepare(self):
        self.layers = nn.ModuleDict({word: nn.Linear(8, 8) for word in set(WORDS)})

    def pooled(self, pooled):
        return sum(self.layers[word](pooled) for word in WORDS)


class NumpyStart(Bag):
    def prepare(self):
        self.more = nn.Parameter(torch.from_numpy(np.random.rand(8).astype("f")))

    def pooled(self, pooled):
        return pooled + self.more


class Overflows(Bag):
    """Beyond 20 items."""

    def forward(self, items, query):
        return super().forward(items, query) + torch.log(torch.tensor(20.5 - items.shape[1]))
