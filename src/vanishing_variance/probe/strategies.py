"""The four ways in which Figure 1 draws its sequences, three of them the paper's, by the names that results have."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Strategy:
    """Random tokens or a text's sentences, and whether the model keeps its positional encoding (P.E.).

    With `fixed_last`, all sequences of all lengths end with the same token. Without positional encoding the query of
    the first layer is then fixed, as Proposition 1 assumes; deeper layers' queries depend on the other tokens too.
    """

    title: str
    sentences: bool
    positions: bool
    fixed_last: bool = False


# Of Section 1 of the paper.
PAPER = {
    "random_no_pe": Strategy("random tokens w/o P.E.", sentences=False, positions=False),
    "random_pe": Strategy("random tokens w/ P.E.", sentences=False, positions=True),
    "sentences_pe": Strategy("sentences w/ P.E.", sentences=True, positions=True),
}
FIXED_LAST = "random_no_pe_fixed_last"
STRATEGIES = PAPER | {
    FIXED_LAST: Strategy("random tokens w/o P.E., fixed last token", sentences=False, positions=False, fixed_last=True),
}
