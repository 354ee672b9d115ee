"""Where accuracy goes: the parts of the answers, by whether the target has the largest attention weight.

S seeds, B sequences.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from jaxtyping import Bool, Float

# Of the answers, with their words. `misranked`: wrong, and another item has the largest weight. `diluted`: wrong though
# the target has it, and right with all weight on it (rule `hard`). `misread`: wrong then, too. `right_misranked`: right
# though another item has it.
WRONG = ("misranked", "diluted", "misread")
PARTS = {**{name: name for name in WRONG}, "right_misranked": "right though misranked"}
# By rule and length: the fraction of the sequences in each of PARTS.
Parts = Mapping[tuple[str, int], Float[np.ndarray, "S 4"]]


def parts(
    right: Bool[np.ndarray, "S B"], hard: Bool[np.ndarray, "S B"], ranked: Bool[np.ndarray, "S B"]
) -> Float[np.ndarray, "S 4"]:
    """Return the fraction of the sequences in each of PARTS; the first three and the accuracy are 1 together.

    `right`: whether an answer is correct, `hard`: whether it is by the rule `hard`; `ranked`: whether the target has
    the largest attention weight, of equal ones the largest logit.
    """
    wrong = ~right
    of_parts = (wrong & ~ranked, wrong & ranked & hard, wrong & ranked & ~hard, right & ~ranked)
    return np.stack([of_part.mean(axis=1) for of_part in of_parts], axis=1)


def parts_frame(parts: Parts, seeds: Sequence[int]) -> pd.DataFrame:
    """Return seed, rule, length, and of each of PARTS the fraction of the sequences."""
    frames = []
    for (rule, length), fractions in parts.items():
        about = {"seed": seeds, "rule": rule, "length": length}
        frames.append(pd.DataFrame({**about, **dict(zip(PARTS, fractions.T, strict=True))}))
    return pd.concat(frames).sort_values(["seed", "rule", "length"], ignore_index=True)
