"""The three ways in which Figure 1 draws its sequences, by the names that results have."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Strategy:
    """Random tokens or a text's sentences, and whether the model keeps its positional encoding (P.E.)."""

    title: str
    sentences: bool
    positions: bool


STRATEGIES = {
    "random_no_pe": Strategy("random tokens w/o P.E.", sentences=False, positions=False),
    "random_pe": Strategy("random tokens w/ P.E.", sentences=False, positions=True),
    "sentences_pe": Strategy("sentences w/ P.E.", sentences=True, positions=True),
}
