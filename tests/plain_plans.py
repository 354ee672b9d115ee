"""Small plans of the plain engine, and two networks that no file of the project has."""

import torch
from small import make_short
from torch import nn

from vanishing_variance.plain.plan import PlainPlan

# Options of a file's network, which is larger by default.
SMALL = {"transformer": {"layers": 2, "heads": 2, "width": 16}}


def make_plain(task, network, norm="ln", options=None, model=None, **settings):
    """Return a plan of 12 steps, of 4 sequences a batch."""
    plan = make_short(task, norm, model=model, **settings)
    if network == "paper":
        return PlainPlan.of_paper(plan)
    return PlainPlan(**vars(plan), network=network, options=options or SMALL.get(network, {}))


class Bag(nn.Module):
    """A bag of items: the mean of an MLP."""

    def __init__(self, sizes, norm, *, width: int = 8, dropout: float = 0.0):
        super().__init__()
        self.item = nn.Sequential(nn.Linear(sizes.items, width), nn.GELU(), nn.Linear(width, width))
        self.norm, self.dropout = norm(width), nn.Dropout(dropout)
        self.head = nn.Linear(width + sizes.query, sizes.classes)

    def forward(self, items, query):
        pooled = self.dropout(self.norm(self.item(items).mean(dim=1)))
        return self.head(torch.cat((pooled, query), dim=1))


class Recurrent(nn.Module):
    """A GRU over the items, which begins with the query."""

    def __init__(self, sizes, norm, *, width: int = 8):
        super().__init__()
        self.start = nn.Linear(sizes.query, width)
        self.gru = nn.GRU(sizes.items, width, batch_first=True)
        self.norm, self.head = norm(width), nn.Linear(width, sizes.classes)

    def forward(self, items, query):
        _, last = self.gru(items, self.start(query).unsqueeze(0))
        return self.head(self.norm(last.squeeze(0)))
