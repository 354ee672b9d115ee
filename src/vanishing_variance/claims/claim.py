"""What a claim is, and what its judgement says."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from vanishing_variance.claims.evidence import Evidence

SUPPORTED, NOT_SUPPORTED, UNDECIDED, NOT_TESTED = "supported", "not supported", "undecided", "not tested"
VERDICTS = (SUPPORTED, NOT_SUPPORTED, UNDECIDED, NOT_TESTED)


@dataclass(frozen=True)
class Judgement:
    """A verdict and what it rests on: our number with its 95% interval and the paper's, in `unit`; `evidence` in words.

    `n` is the number of seeds. What does not exist is None.
    """

    verdict: str
    evidence: str
    unit: str = ""
    ours: float | None = None
    low: float | None = None
    high: float | None = None
    paper: float | None = None
    n: int | None = None


@dataclass(frozen=True)
class Claim:
    """One claim of the paper: what it says, where, and the rule that decides it, in words and as a function."""

    key: str
    where: str
    says: str
    rule: str
    judge: Callable[[Evidence], Judgement]


def judge(claims: Iterable[Claim], evidence: Evidence) -> dict[str, dict[str, Any]]:
    """Every claim's judgement, as metrics/claims.json has it; numbers with four significant digits."""
    document = {}
    for claim in claims:
        found = claim.judge(evidence)
        numbers = {name: _rounded(getattr(found, name)) for name in ("ours", "low", "high", "paper")}
        document[claim.key] = {
            **{"claim": claim.says, "where": claim.where, "verdict": found.verdict},
            **numbers,
            **{"unit": found.unit, "n": found.n, "evidence": found.evidence, "rule": claim.rule},
        }
    return document


def _rounded(number: float | None) -> float | None:
    return None if number is None else float(f"{number:.4g}")


def together(judgements: dict[str, Judgement]) -> Judgement:
    """One judgement of several, by name, of which all must be supported; the numbers are those of the weakest.

    Of two with the same verdict that is the one whose interval reaches lower.

    Not supported where any is not; undecided where any is, or was not tested; supported where all are.
    """
    order = {NOT_SUPPORTED: 0, NOT_TESTED: 1, UNDECIDED: 2, SUPPORTED: 3}
    weakest = min(judgements.values(), key=lambda one: (order[one.verdict], -math.inf if one.low is None else one.low))
    verdict = UNDECIDED if weakest.verdict == NOT_TESTED else weakest.verdict
    if all(one.verdict == NOT_TESTED for one in judgements.values()):
        verdict = NOT_TESTED
    words = "; ".join(f"{name}: {one.verdict} ({one.evidence})" for name, one in judgements.items())
    return Judgement(verdict, words, weakest.unit, weakest.ours, weakest.low, weakest.high, weakest.paper, weakest.n)


def one_sided(low: float | None, high: float | None) -> str:
    """Supported where the 95% interval is above 0, not supported where it is below, else undecided."""
    if low is not None and low > 0:
        return SUPPORTED
    return NOT_SUPPORTED if high is not None and high < 0 else UNDECIDED  # also where they are not numbers
