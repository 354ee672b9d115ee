"""Tasks that no file of the project has: each way of which items and query may consist."""

import numpy as np

from vanishing_variance import Embedded, Number, OneHot, Task


class Mean(Task):
    """The mean of some numbers, in bins: a number alone, and no query."""

    bins: int = 10

    items = {"number": Number()}
    label_classes = "bins"

    def sample(self, rng, sequences, length):
        return {"number": rng.random((sequences, length), dtype=np.float32)}

    def label(self, batch):
        return (batch["number"].mean(axis=1) * self.bins).astype(np.int64)


class Drawn(Task):
    """Anything that is declared, drawn uniformly; the label is whether the first array has a large number."""

    label_classes = 2

    def sample(self, rng, sequences, length):
        def draw(features, size):
            drawn = {name: rng.random(size, dtype=np.float32) for name in features}
            for name, feature in features.items():
                if not isinstance(feature, Number):
                    drawn[name] = (drawn[name] * feature.classes).astype(np.int16)
            return drawn

        return draw(self.items, (sequences, length)) | draw(self.query, sequences)

    def label(self, batch):
        first = batch[next(iter(self.items))]
        return (first.mean(axis=1) > 0.5).astype(np.int64)


class OneCategory(Drawn):
    items = {"class": OneHot(5)}


class Queried(Drawn):
    """One table for item and query."""

    items = {"key": Embedded(40, table="key")}
    query = {"query": Embedded(40, table="key")}


class Kinds(Drawn):
    """A number beside two categories, and a query of a number beside one."""

    items = {"number": Number(), "kind": OneHot(3), "class": OneHot(4)}
    query = {"cue": Number(), "query": OneHot(3)}


class Edges(Drawn):
    """Categories of one table, two in the item and two in the query, beside others."""

    items = {"type": Embedded(6, table="type"), "from": Embedded(30, table="node"), "to": Embedded(30, table="node")}
    query = {"start": Embedded(30, table="node"), "end": Embedded(30, table="node"), "hint": Embedded(9, table="hint")}


OWN = [Mean, OneCategory, Queried, Kinds, Edges]


def own(base=Mean, **changes):
    """Return a class of a task, as `base` but for some of it."""
    return type("Own", (base,), changes)


def drawing(draw):
    """Return a `sample` of numbers that are drawn by a function of generator and size."""
    return lambda self, rng, *size: {"number": draw(rng, size)}


def labelling(label):
    """Return a `label` by a function of the numbers."""
    return lambda self, batch: label(batch["number"])
