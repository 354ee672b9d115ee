"""Claims, and their judgement by a rule."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from vanishing_variance.claims.evidence import Evidence
from vanishing_variance.study.verdict import CONTRADICTED, NOT_COMPARABLE, NOT_TESTED, SUPPORTED, UNDECIDED


@dataclass(frozen=True)
class Judgement:
    """A verdict and what it rests on: our number with its 95% interval and the paper's, in `unit`; `evidence` in words.

    `size` is that of a gain beside the paper's, of `verdict.SIZES`; `n` is the number of seeds. What does not exist is
    None.
    """

    verdict: str
    evidence: str
    unit: str = ""
    ours: float | None = None
    low: float | None = None
    high: float | None = None
    paper: float | None = None
    n: int | None = None
    size: str = ""


@dataclass(frozen=True)
class Claim:
    """One claim of the paper: what it says, where, and the rule that decides it, in words and as a function.

    `tasks` are those whose trained models it is judged by, trained on `range_`; none for what a pretrained model does.
    `of_training`: whether it is about what the paper's training leads to, of which undertrained models say nothing.
    `recorded`: whether accuracies and the inside of models decide it, which is all that a record has.
    """

    key: str
    where: str
    says: str
    rule: str
    tasks: Sequence[str]
    judge: Callable[[Evidence], Judgement]
    range_: str = "short"
    of_training: bool = True
    recorded: bool = True


def judge(claims: Iterable[Claim], evidence: Evidence) -> dict[str, dict[str, Any]]:
    """Return every claim's judgement, as metrics/claims.json has it; numbers with four significant digits.

    `steps`: how many gradient steps its models had, by task.
    """
    document = {}
    for claim in claims:
        found = _as_trained(claim, claim.judge(evidence), evidence)
        numbers = {name: _rounded(getattr(found, name)) for name in ("ours", "low", "high", "paper")}
        document[claim.key] = {
            **{"claim": claim.says, "where": claim.where, "verdict": found.verdict, "size": found.size},
            **numbers,
            **{"unit": found.unit, "n": found.n},
            "steps": {task: evidence.steps[task, claim.range_] for task in claim.tasks},
            **{"evidence": found.evidence, "rule": claim.rule},
        }
    return document


def one_sided(low: float | None, high: float | None) -> str:
    """Return supported where the 95% interval is above 0, contradicted where it is below, else undecided."""
    if low is not None and low > 0:
        return SUPPORTED
    return CONTRADICTED if high is not None and high < 0 else UNDECIDED  # also where they are not numbers


def _as_trained(claim: Claim, found: Judgement, evidence: Evidence) -> Judgement:
    """Return a claim's judgement: not comparable where it is of training, and the models of a task are undertrained."""
    if found.verdict == NOT_TESTED or not claim.of_training:
        return found
    reasons = {task: evidence.undertrained(task, claim.range_) for task in claim.tasks}
    said = [f"{task} {reason}" if len(claim.tasks) > 1 else reason for task, reason in reasons.items() if reason]
    if not said:
        return found
    return replace(found, verdict=NOT_COMPARABLE, size="", evidence="; ".join([*said, found.evidence]))


def _rounded(number: float | None) -> float | None:
    return None if number is None else float(f"{number:.4g}")
