"""Test sequences, the same for every seed and variant: the section `test` of params.yaml, and their random stream."""

import numpy as np

from vanishing_variance.engine.streams import stream
from vanishing_variance.harness.sections import Lengths, Section, Several


class Test(Section):
    """Test lengths in items, increasing; sequences a length, two or more, for standard errors over them."""

    __test__ = False  # not a test case: pytest would collect it by its name

    lengths: Lengths
    sequences: Several


def held_out_stream(root_seed: int, task_name: str, length: int) -> np.random.Generator:
    """Return the stream that the test sequences of one task and length are drawn from."""
    return stream(root_seed, "test", task_name, length)
