"""Claims, their judgement by a rule, and the verdicts as files."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from vanishing_variance.claims.evidence import Evidence
from vanishing_variance.claims.verdict import (
    CONTRADICTED,
    NOT_COMPARABLE,
    NOT_TESTED,
    ONE_SEED,
    SUPPORTED,
    UNDECIDED,
    VERDICTS,
    NotTestedError,
)
from vanishing_variance.engine.run import PAPER
from vanishing_variance.harness.outputs import Files
from vanishing_variance.statistics.intervals import NAN, interval

# Percentage points: accuracies are ratios of counts, and what differs in their last bits only is equal.
EQUAL = 1e-10


@dataclass(frozen=True)
class Judgement:
    """A verdict and what it rests on: our number with its 95% interval and the paper's, in `unit`; `evidence` in words.

    `size` is that of a gain beside the paper's, of `verdict.SIZES`; `n` is the number of seeds. A number that does not
    exist is NaN, and n None.
    """

    verdict: str
    evidence: str
    unit: str = ""
    ours: float = NAN
    low: float = NAN
    high: float = NAN
    paper: float = NAN
    n: int | None = None
    size: str = ""


@dataclass(frozen=True)
class Rule:
    """What decides a claim, in words and as a function.

    `tasks` are those whose trained models it is judged by, trained on `range_`; none for what a pretrained model does.
    `of_training`: whether it is about what training leads to, of which models behind the paper's say nothing.
    `inside`: whether it needs what is measured inside models of the paper's network alone.
    `recorded`: whether accuracies and the inside of models decide it, which is all that a study has.
    """

    words: str
    judge: Callable[[Evidence], Judgement]
    tasks: Sequence[str] = ()
    range_: str = "short"
    of_training: bool = True
    inside: bool = False
    recorded: bool = True


@dataclass(frozen=True)
class Claim:
    """One claim of the paper: where it is, what it says, and the rule that decides it.

    `as_read`: the rule judges one reading of a sentence that has others. `after_results`: it was set, or took its
    present form, after results had been seen.
    """

    key: str
    where: str
    says: str
    as_read: bool
    after_results: bool
    rule: Rule


def judge(claims: Iterable[Claim], evidence: Evidence) -> dict[str, dict[str, Any]]:
    """Return every claim's judgement, as metrics/claims.json has it; numbers with four significant digits.

    `steps`: how many gradient steps its models had, by task; nothing of a range that was not trained.
    """
    document = {}
    for claim in claims:
        rule = claim.rule
        try:
            if rule.inside and evidence.training.network != PAPER:
                raise NotTestedError(f"not measured: network {evidence.training.network}")
            found = _as_trained(rule, rule.judge(evidence), evidence)
        except NotTestedError as problem:
            found = Judgement(NOT_TESTED, str(problem))
        rounded = {}
        for name in ("ours", "low", "high", "paper"):
            number = getattr(found, name)
            rounded[name] = None if np.isnan(number) else float(f"{number:.4g}")
        trained = [task for task in rule.tasks if (task, rule.range_) in evidence.training.steps]
        document[claim.key] = {
            "claim": claim.says,
            "where": claim.where,
            "verdict": found.verdict,
            "as_read": claim.as_read,
            "after_results": claim.after_results,
            "size": found.size,
            **rounded,
            "unit": found.unit,
            "n": found.n,
            "steps": {task: evidence.training.steps[task, rule.range_] for task in trained},
            "evidence": found.evidence,
            "rule": rule.words,
        }
    return document


def judged(claims: Iterable[Claim], evidence: Evidence) -> Files:
    """Return the judgements of claims as claims.json and verdicts.json."""
    document = judge(claims, evidence)
    return {"claims.json": document, "verdicts.json": counts(document)}


def counts(document: Mapping[str, Mapping[str, Any]]) -> dict[str, int]:
    """Return how many claims have each verdict: the columns of `dvc exp show`."""
    found = Counter(claim["verdict"] for claim in document.values())
    return {verdict.replace(" ", "_"): found[verdict] for verdict in VERDICTS}


def decided(supported: bool, contradicted: bool) -> str:
    """Return the verdict: undecided where neither holds, as where numbers are missing."""
    if supported:
        return SUPPORTED
    if contradicted:
        return CONTRADICTED
    return UNDECIDED


def one_sided(low: float, high: float) -> str:
    """Return supported where the 95% interval is above 0, contradicted where it is below, else undecided."""
    return decided(bool(low > 0), bool(high < 0))


def no_test(differences: Float[np.ndarray, " S"]) -> str:
    """Return why there is no test of these differences over seeds; empty where there is one.

    Raises NotTestedError where there is one seed.
    """
    if len(differences) < 2:
        raise NotTestedError(ONE_SEED)
    if np.ptp(differences) <= EQUAL:
        return "all differences equal: no test"
    return ""


def by_seed(values: Float[np.ndarray, " S"], unit: str, words: str) -> Judgement:
    """Judge whether the mean over seeds is above 0, by its 95% t interval. Raises NotTestedError for one seed."""
    if len(values) < 2:
        raise NotTestedError(ONE_SEED)
    mean, low, high = interval(values)
    return Judgement(one_sided(low, high), words, unit, mean, low, high, n=len(values))


def _as_trained(rule: Rule, found: Judgement, evidence: Evidence) -> Judgement:
    """Return the judgement: not comparable where it is of training, and the models of a task are behind the paper's."""
    if not rule.of_training:
        return found
    said = []
    for task in rule.tasks:
        reason = evidence.behind(task, rule.range_)
        if reason:
            said.append(f"{task} {reason}" if len(rule.tasks) > 1 else reason)
    if not said:
        return found
    return replace(found, verdict=NOT_COMPARABLE, size="", evidence="; ".join([*said, found.evidence]))
