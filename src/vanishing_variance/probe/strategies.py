"""Names of Figure 1's results: four ways of drawing sequences, three of them the paper's, and two places."""

from dataclasses import dataclass

# The output projection W_O: before it is O, the heads' outputs side by side, and after it is what attention adds.
BEFORE, AFTER = "before", "after"


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
