"""Small plans of the plain engine, and three networks that no file of the project has."""

import torch
from small import make_model, make_plan
from torch import nn
from torch.nn.functional import scaled_dot_product_attention

from vanishing_variance.plain.plan import PlainPlan


def make_plain(task, network, norm="ln", options=None, model=None, **settings):
    """Return a plan of 12 steps, of 4 sequences a batch."""
    model = make_model(**{"width": 16} | (model or {}))
    plan = make_plan(task, norm, model=model, **{"steps": 12, "batch_size": 4} | settings)
    if network == "paper":
        return PlainPlan.of_paper(plan)
    return PlainPlan(**vars(plan), network=network, options=options or {})


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


class Rotary(nn.Module):
    """One layer of attention with rotary positions (Su et al. 2021), the query after the last item."""

    def __init__(self, sizes, norm, *, width: int = 8):
        super().__init__()
        self.item, self.query = nn.Linear(sizes.items, 3 * width), nn.Linear(sizes.query, 3 * width)
        self.register_buffer("frequencies", 10000.0 ** -(torch.arange(width // 2) * 2 / width))
        self.norm, self.head = norm(width), nn.Linear(width, sizes.classes)

    def rotated(self, x):
        angles = torch.arange(x.shape[1], device=x.device).unsqueeze(1) * self.frequencies
        real, imaginary = x.chunk(2, dim=-1)
        sine, cosine = angles.sin(), angles.cos()
        return torch.cat((real * cosine - imaginary * sine, real * sine + imaginary * cosine), dim=-1)

    def forward(self, items, query):
        tokens = torch.cat((self.item(items), self.query(query).unsqueeze(1)), dim=1)
        queries, keys, values = tokens.chunk(3, dim=-1)
        outputs = scaled_dot_product_attention(self.rotated(queries)[:, -1:], self.rotated(keys), values)
        return self.head(self.norm(outputs.squeeze(1)))
