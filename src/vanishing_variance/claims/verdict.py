"""The verdicts on a claim, and what each means."""

from collections.abc import Mapping
from typing import Any

from vanishing_variance.results.scale import BEHIND

SUPPORTED, CONTRADICTED, UNDECIDED = "supported", "contradicted", "undecided"
NOT_COMPARABLE, NOT_TESTED = "not comparable", "not tested"
# A claim whose sentence has other readings is contradicted as read.
AS_READ = "contradicted as read"
AFTER_RESULTS = "†"


class NotTestedError(Exception):
    """Nothing was trained or measured for a claim, or one seed alone: the message says what is missing."""


ONE_SEED = "one seed: no test"


# The size of a gain beside the paper's; empty where the rule does not ask for it.
SMALLER, LARGER = "smaller than the paper's", "larger than the paper's"
INDISTINCT = "not distinguishable from the paper's on average"


MEANINGS = {
    SUPPORTED: "the evidence is for the claim",
    CONTRADICTED: "the evidence is against it",
    AS_READ: "the evidence is against one reading of a sentence that has others (docs/decisions.md)",
    UNDECIDED: "neither, by the rule",
    NOT_COMPARABLE: "the models had fewer gradient steps than the paper's, or their baseline (none, as trained) is "
    f"more than {BEHIND} percentage points below the paper's at 2^4 (where the paper's number is lost, at the shortest "
    "training length that has one; where none has, the steps alone decide): whichever way it points, the number is a "
    "point of the learning curve, and no evidence",
    NOT_TESTED: "nothing was trained or measured for it, or one seed alone",
}
VERDICTS = (SUPPORTED, CONTRADICTED, UNDECIDED, NOT_COMPARABLE, NOT_TESTED)
SIZES = {
    SMALLER: "significantly smaller than the paper's number (two-sided p < 0.05), given the errors of both",
    LARGER: "significantly larger",
    INDISTINCT: "no significant difference; equal only where the evidence says equivalent; single lengths may differ",
}
LATE = (
    "the rule was set, or took its present form, after results had been seen (docs/decisions.md). For all "
    "claims this holds of two rules: that each task is judged apart, and what counts as not comparable"
)


def legend() -> list[tuple[str, str]]:
    """Return every verdict, every size of a gain and the mark of a late rule, with its meaning."""
    sizes = [(name, f"of a gain: {meaning}") for name, meaning in SIZES.items()]
    return [*MEANINGS.items(), *sizes, (AFTER_RESULTS, LATE)]


def shown(claim: Mapping[str, Any]) -> str:
    """Return the verdict of a claim of claims.json in words: contradicted as read, where there are other readings."""
    return AS_READ if claim["as_read"] and claim["verdict"] == CONTRADICTED else str(claim["verdict"])
