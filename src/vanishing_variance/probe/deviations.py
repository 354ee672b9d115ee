"""The standard deviation of fixed components of O over sequences, against their length (Figure 1).

V tokens in the vocabulary.
"""

from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd
from jaxtyping import Integer
from transformers import PreTrainedModel

from vanishing_variance.engine.streams import stream
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.progress import Progress
from vanishing_variance.harness.sections import PATH
from vanishing_variance.probe.config import Probe
from vanishing_variance.probe.families import Family
from vanishing_variance.probe.outputs import last_outputs
from vanishing_variance.probe.sequences import Corpus, sentences
from vanishing_variance.probe.strategies import STRATEGIES

COLUMNS = ["strategy", "layer", "head", "component", "length", "n", "deviation"]


@dataclass(frozen=True)
class Subject:
    """Subject of the measurement: a model of a family, at these layers and heads; its vocabulary, and a text for it."""

    model: PreTrainedModel
    family: Family
    layers: list[int]
    heads: list[int]
    vocabulary: Integer[np.ndarray, " V"]
    corpus: Corpus


def measure(subject: Subject, settings: Probe, root_seed: int) -> pd.DataFrame:
    """Return a tidy frame with COLUMNS, a row per component of a head, over n sequences.

    `deviation`: the sample standard deviation over sequences, in double precision.
    Raises InputError when a deviation is zero or not a number, which has no place on a logarithmic axis.
    """
    drawn = {}  # all of them first: a text that is too short is noticed before the work
    for name, length in product(STRATEGIES, settings.lengths):
        drawn[name, length] = draw(subject, name, settings.sequences, length, root_seed)
    axes = [subject.layers, subject.heads, range(settings.components)]
    components = pd.MultiIndex.from_product(axes, names=["layer", "head", "component"]).to_frame(index=False)
    parts = []
    total = sum(tokens.size for tokens in drawn.values())
    with Progress("probe", total, "tokens") as progress:
        for (name, length), tokens in drawn.items():
            positions = STRATEGIES[name].positions
            outputs = last_outputs(subject.model, subject.family, tokens, subject.layers, positions)
            shown = outputs[:, :, subject.heads, : settings.components]
            spread = shown.std(axis=0, ddof=1, dtype=np.float64)
            part = components.assign(strategy=name, length=length, n=len(tokens))
            parts.append(part.assign(deviation=spread.ravel()))
            progress(tokens.size)
    table = pd.concat(parts, ignore_index=True)[COLUMNS]
    for row in table.to_dict("records"):
        if not 0 < row["deviation"] < np.inf:
            where = f"layer {row['layer']}, head {row['head']}, component {row['component']}: {row['deviation']}"
            raise InputError(f"{PATH}: probe.model is {settings.model}; O does not vary there ({where})")
    return table


def draw(
    subject: Subject, name: str, sequences: int, length: int, root_seed: int
) -> Integer[np.ndarray, "{sequences} {length}"]:
    """Return sequences of the strategy `name`.

    Random tokens are drawn independently and uniformly from the vocabulary; a fixed last one is the same for every
    length.
    """
    strategy = STRATEGIES[name]
    rng = stream(root_seed, "probe", name, length)
    if strategy.sentences:
        return sentences(rng, subject.corpus, sequences, length)
    tokens = rng.choice(subject.vocabulary, (sequences, length))
    if strategy.fixed_last:
        tokens[:, -1] = stream(root_seed, "probe", name, "last token").choice(subject.vocabulary)
    return tokens
