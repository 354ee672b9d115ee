"""The standard deviation of fixed components of O over sequences, against their length (Figure 1).

S sequences, K layers, H heads, C components of a head, V tokens in the vocabulary.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from jaxtyping import Float64, Integer
from transformers import PreTrainedModel

from vanishing_variance.engine.streams import stream
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.progress import Progress
from vanishing_variance.harness.sections import PATH
from vanishing_variance.probe.config import Probe
from vanishing_variance.probe.families.base import Family
from vanishing_variance.probe.outputs import last_outputs
from vanishing_variance.probe.sequences import Corpus, sentences
from vanishing_variance.probe.strategies import STRATEGIES


@dataclass(frozen=True)
class Subject:
    """Subject of the measurement: a model of a family, at these layers and heads; its vocabulary, and a text for it."""

    model: PreTrainedModel
    family: Family
    layers: list[int]
    heads: list[int]
    vocabulary: Integer[np.ndarray, " V"]
    corpus: Corpus


def measure(subject: Subject, settings: Probe, root: int) -> pd.DataFrame:
    """Return a tidy frame: strategy, layer, head, component (of the head), length, n (sequences), deviation.

    `deviation`: the sample standard deviation over sequences, in double precision.
    Raises InputError when a deviation is zero or not a number, which has no place on a logarithmic axis.
    """
    parts = []
    number = settings.sequences
    drawn = {
        (name, length): draw(subject, name, number, length, root) for name in STRATEGIES for length in settings.lengths
    }
    with Progress("probe", sum(tokens.size for tokens in drawn.values()), "tokens") as progress:
        for (name, length), tokens in drawn.items():
            outputs = last_outputs(subject.model, subject.family, tokens, subject.layers, STRATEGIES[name].positions)
            shown = outputs[:, :, subject.heads, : settings.components]
            spread = shown.std(axis=0, ddof=1, dtype=np.float64)
            parts.append(_rows(spread, subject, settings.model).assign(strategy=name, length=length, n=number))
            progress(tokens.size)
    columns = ["strategy", "layer", "head", "component", "length", "n", "deviation"]
    return pd.concat(parts, ignore_index=True)[columns]


def draw(
    subject: Subject, name: str, sequences: int, length: int, root: int
) -> Integer[np.ndarray, "{sequences} {length}"]:
    """Return sequences of the strategy `name`.

    Random tokens are drawn independently and uniformly from the vocabulary; a fixed last one is the same for every
    length.
    """
    strategy, rng = STRATEGIES[name], stream(root, "probe", name, length)
    if strategy.sentences:
        return sentences(rng, subject.corpus, sequences, length)
    tokens = rng.choice(subject.vocabulary, (sequences, length))
    if strategy.fixed_last:
        tokens[:, -1] = stream(root, "probe", name, "last token").choice(subject.vocabulary)
    return tokens


def _rows(spread: Float64[np.ndarray, "K H C"], subject: Subject, name: str) -> pd.DataFrame:
    places = [subject.layers, subject.heads, range(spread.shape[2])]
    rows = pd.MultiIndex.from_product(places, names=["layer", "head", "component"]).to_frame(index=False)
    rows["deviation"] = spread.ravel()
    for _, row in rows[~(np.isfinite(rows["deviation"]) & (rows["deviation"] > 0))].iterrows():
        where = ", ".join(f"{key} {row[key]:.0f}" for key in ("layer", "head", "component"))
        raise InputError(f"{PATH}: probe.model is {name}; O does not vary there ({where}: {row['deviation']})")
    return rows
