"""Claims, and their judgement by a rule."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from vanishing_variance.claims.evidence import Evidence
from vanishing_variance.claims.verdict import NOT_COMPARABLE, NOT_SUPPORTED, NOT_TESTED, SUPPORTED, UNDECIDED


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
    """One claim of the paper: what it says, where, and the rule that decides it, in words and as a function.

    `tasks` are those whose trained models it is judged by, trained on `range_`; none for what a pretrained model does.
    """

    key: str
    where: str
    says: str
    rule: str
    tasks: Sequence[str]
    judge: Callable[[Evidence], Judgement]
    range_: str = "short"


def judge(claims: Iterable[Claim], evidence: Evidence) -> dict[str, dict[str, Any]]:
    """Return every claim's judgement, as metrics/claims.json has it; numbers with four significant digits.

    `steps`: how many gradient steps its models had, by task.
    """
    document = {}
    for claim in claims:
        found = claim.judge(evidence)
        numbers = {name: _rounded(getattr(found, name)) for name in ("ours", "low", "high", "paper")}
        document[claim.key] = {
            **{"claim": claim.says, "where": claim.where, "verdict": found.verdict},
            **numbers,
            **{"unit": found.unit, "n": found.n},
            "steps": {task: evidence.steps[task, claim.range_] for task in claim.tasks},
            **{"evidence": found.evidence, "rule": claim.rule},
        }
    return document


def _rounded(number: float | None) -> float | None:
    return None if number is None else float(f"{number:.4g}")


def as_trained(found: Judgement, evidence: Evidence, task: str, range_: str) -> Judgement:
    """Return a judgement of models of this task and range: not comparable where they are undertrained."""
    reason = "" if found.verdict == NOT_TESTED else evidence.undertrained(task, range_)
    return replace(found, verdict=NOT_COMPARABLE, evidence=f"{reason}; {found.evidence}") if reason else found


def together(judgements: dict[str, Judgement]) -> Judgement:
    """Return one judgement of several, by name, of which all must be supported; the numbers are those of the weakest.

    Of two with the same verdict that is the one whose interval reaches lower.

    Not supported where any is not, since one refutes the claim; not comparable where any is not, since it may yet
    refute it; undecided where any is, or was not tested; supported where all are.
    """
    order = {NOT_SUPPORTED: 0, NOT_COMPARABLE: 1, NOT_TESTED: 2, UNDECIDED: 3, SUPPORTED: 4}
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
