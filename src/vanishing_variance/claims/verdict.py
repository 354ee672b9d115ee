"""The verdicts on a claim, and what each means. Without imports: the page reads them too, and needs no scipy."""

SUPPORTED, NOT_SUPPORTED, UNDECIDED = "supported", "not supported", "undecided"
NOT_COMPARABLE, NOT_TESTED = "not comparable (undertrained)", "not tested"

# Percentage points that a baseline may be below the paper's, and still count as trained like the paper's.
BEHIND = 0.5

MEANINGS = {
    SUPPORTED: "the evidence is for the claim",
    NOT_SUPPORTED: "the evidence is against it",
    UNDECIDED: "neither, by the rule",
    NOT_COMPARABLE: "the models had fewer gradient steps than the paper's, or their baseline (none, plain softmax) is "
    f"more than {BEHIND} percentage points below the paper's at 2^4 (where the paper's number is lost, at the shortest "
    "training length that has one; where none has, the steps alone decide): whichever way it points, the number is a "
    "point of the learning curve, and no evidence",
    NOT_TESTED: "nothing was trained or tested for it",
}
VERDICTS = tuple(MEANINGS)


def legend() -> str:
    """Return every verdict with its meaning, as a sentence."""
    text = "; ".join(f"{verdict}: {meaning}" for verdict, meaning in MEANINGS.items())
    return f"{text[0].upper()}{text[1:]}."


def name(verdict: str, separator: str) -> str:
    """Return the verdict as a name, without what stands in brackets: `not_comparable`, `not-comparable`."""
    return verdict.partition(" (")[0].replace(" ", separator)
