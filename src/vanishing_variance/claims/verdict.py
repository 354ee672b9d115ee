"""The verdicts on a claim, and what each means. Nothing here imports scipy: the page reads them too, and needs none."""

from vanishing_variance.results.baseline import BEHIND

SUPPORTED, CONTRADICTED, UNDECIDED = "supported", "contradicted", "undecided"
NOT_COMPARABLE, NOT_TESTED = "not comparable", "not tested"


class NotTestedError(Exception):
    """Nothing was trained or measured for a claim: the message says what is missing."""


# The size of a gain beside the paper's; empty where the rule does not ask for it.
SMALLER, LARGER, COMPATIBLE = "smaller than the paper's", "larger than the paper's", "compatible with the paper's"


MEANINGS = {
    SUPPORTED: "the evidence is for the claim",
    CONTRADICTED: "the evidence is against it",
    UNDECIDED: "neither, by the rule",
    NOT_COMPARABLE: "the models had fewer gradient steps than the paper's, or their baseline (none, as trained) is "
    f"more than {BEHIND} percentage points below the paper's at 2^4 (where the paper's number is lost, at the shortest "
    "training length that has one; where none has, the steps alone decide): whichever way it points, the number is a "
    "point of the learning curve, and no evidence",
    NOT_TESTED: "nothing was trained or measured for it",
}
VERDICTS = tuple(MEANINGS)
SIZES = {
    "": "no size is judged",
    SMALLER: "significantly smaller than the paper's number (two-sided p < 0.05), given the errors of both",
    LARGER: "significantly larger",
    COMPATIBLE: "no significant difference, though with few seeds the two can be far apart",
}


def legend() -> list[tuple[str, str]]:
    """Return every verdict, and every size of a gain, with its meaning."""
    return [*MEANINGS.items(), *((name, f"of a gain: {meaning}") for name, meaning in SIZES.items() if name)]
