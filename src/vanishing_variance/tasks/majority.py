"""The most frequent class among the items: attention should spread, for no item has the answer.

class  4  1  4  2  4  1         no query        ->   label  4
"""

from typing import Annotated

import numpy as np
from jaxtyping import Int64
from pydantic import Field

from vanishing_variance.engine.task import OneHot, Sequences, Task


class Majority(Task):
    """Classes are uniform over `classes`; a sequence with two most frequent classes is drawn again.

    The two largest counts N p + O(sqrt(N)) come nearer to each other relative to N as sequences grow: their gap is
    some sqrt(N / classes) of N items.
    """

    classes: Annotated[int, Field(ge=2, le=64)] = 5

    items = {"class": OneHot("classes")}
    label_classes = "classes"
    independent = True

    def sample(self, rng: np.random.Generator, sequences: int, length: int) -> Sequences:
        """Return `class` (B, N) uint8."""
        classes = rng.integers(self.classes, size=(sequences, length), dtype=np.uint8)
        while True:
            ordered = np.sort(self.counts(classes), axis=1)
            tied = ordered[:, -1] == ordered[:, -2]
            if not tied.any():
                return {"class": classes}
            classes[tied] = rng.integers(self.classes, size=(tied.sum(), length), dtype=np.uint8)

    def label(self, batch: Sequences) -> Int64[np.ndarray, " B"]:
        """Return the most frequent class, the first of equal ones."""
        label: np.ndarray = self.counts(batch["class"]).argmax(axis=1)
        return label

    def counts(self, classes: np.ndarray) -> Int64[np.ndarray, "B C"]:
        """Return how often each class is among the items (B, N)."""
        counted = [(classes == one).sum(axis=1) for one in range(self.classes)]
        return np.stack(counted, axis=1)
