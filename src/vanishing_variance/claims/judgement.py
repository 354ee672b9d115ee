"""The judgement of claims by their statistics and criteria, and the verdicts as files."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from vanishing_variance.claims import causes, gains, theory
from vanishing_variance.claims.criteria import CRITERIA
from vanishing_variance.claims.evidence import Evidence
from vanishing_variance.claims.inside import FUNCTIONS, inside
from vanishing_variance.claims.paper import Claim, Measured
from vanishing_variance.claims.verdict import NOT_COMPARABLE, VERDICTS, WORDS, NotTestedError
from vanishing_variance.engine.run import PAPER
from vanishing_variance.harness.frames import Files
from vanishing_variance.harness.numbers import power
from vanishing_variance.results.paper import otherwise_words
from vanishing_variance.results.runs import norm_of, range_of

# By the field of `Evidence` that they need, and their names.
STATISTICS: dict[str, dict[str, Callable[[Claim, Evidence], Measured]]] = {
    "accuracy": {"gain": gains.gain, "interaction": gains.interaction, "distance between tasks": gains.distances},
    "mechanism": dict.fromkeys(FUNCTIONS, inside),
    "interventions": {
        **dict.fromkeys(causes.SHARES, causes.shares_of_loss),
        "read-out": causes.read_out,
        "attribution": causes.attribution,
    },
    "exponents": {"features that fall": theory.features},
    "fits": {"components that fall": theory.components, "slope": theory.slope},
    "losses": {"loss that falls": theory.loss_falls},
    "": {"argument": theory.argued},
}
# Those about what training leads to; those measured inside models, of the paper's network alone; those of a study.
OF_TRAINING = STATISTICS["accuracy"] | STATISTICS["mechanism"] | STATISTICS["interventions"]
OF_PAPERS_NETWORK = STATISTICS["mechanism"] | STATISTICS["interventions"] | STATISTICS["exponents"]
OF_STUDY = STATISTICS["accuracy"] | STATISTICS["mechanism"]


def judge(claims: Iterable[Claim], evidence: Evidence) -> dict[str, dict[str, Any]]:
    """Return every claim's judgement, as metrics/claims.json has it; numbers with four significant digits.

    `steps`: how many gradient steps its models had, by task; nothing of a range that was not trained.
    """
    document = {}
    for claim in claims:
        try:
            verdict, measured = _judged(claim, evidence)
        except NotTestedError as problem:
            verdict, measured = problem.verdict, Measured(str(problem))
        rounded = {}
        for name in ("ours", "low", "high", "paper"):
            number = getattr(measured, name)
            rounded[name] = None if np.isnan(number) else float(f"{number:.4g}")
        steps = {task: evidence.training.steps_on(task, range_of(claim.treatment)) for task in claim.tasks.split()}
        document[claim.key] = {
            "claim": claim.says,
            "where": claim.where,
            "verdict": verdict,
            "as_read": bool(claim.as_read),
            "after_results": bool(claim.after_results),
            **rounded,
            "unit": measured.unit,
            "n": measured.n,
            "steps": {task: made for task, made in steps.items() if made},
            "evidence": measured.words,
            "rule": _words(claim),
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


def _judged(claim: Claim, evidence: Evidence) -> tuple[str, Measured]:
    """Return the verdict, and what it rests on. Raises NotTestedError."""
    if claim.statistic in OF_PAPERS_NETWORK and evidence.training.network != PAPER:
        raise NotTestedError(f"not measured: network {evidence.training.network}")
    (measure,) = (named[claim.statistic] for named in STATISTICS.values() if claim.statistic in named)
    decide = CRITERIA[claim.criterion]
    measured = measure(claim, evidence)
    verdict = decide(measured)
    others: dict[str, list[str]] = {}
    for length, intervals in measured.by_length.items():
        at_length = decide(replace(measured, intervals=intervals))
        if at_length != verdict:
            others.setdefault(at_length, []).append(power(int(length)))
    elsewhere = [f"{other} at {', '.join(lengths)}" for other, lengths in others.items()]
    words = ", ".join([measured.words, *elsewhere])
    behind = _behind(claim, evidence)
    if behind:
        verdict = NOT_COMPARABLE
    return verdict, replace(measured, words="; ".join([*_others(claim, evidence), *behind, words]))


def _others(claim: Claim, evidence: Evidence) -> list[str]:
    """Return in words what differs from the paper's training, of a claim about trained models."""
    tasks = claim.tasks.split()
    return otherwise_words(evidence.training.otherwise, tasks, range_of(claim.treatment)) if tasks else []


def _behind(claim: Claim, evidence: Evidence) -> list[str]:
    """Return in words of which tasks the models are behind the paper's; nothing where that does not matter."""
    if claim.statistic not in OF_TRAINING:
        return []
    tasks = claim.tasks.split()
    reasons = {task: evidence.behind(task, range_of(claim.treatment)) for task in tasks}
    return [f"{task} {reason}" if len(tasks) > 1 else reason for task, reason in reasons.items() if reason]


def _words(claim: Claim) -> str:
    """Return the statistic and the criterion in words."""
    treatment, baseline = norm_of(claim.treatment), norm_of(claim.baseline)
    names = {"treatment": treatment, "baseline": baseline, "column": WORDS["columns"].get(claim.column)}
    names["lines"] = f"{baseline} less {treatment}" if baseline else f"with {treatment}"
    names |= {name: words.format(**names) for name, words in WORDS["scopes"].items()}
    sentences = [WORDS["statistics"][claim.statistic], WORDS["criteria"][claim.criterion]]
    if claim.statistic in OF_TRAINING:
        sentences.append(WORDS["training"])
    return " ".join(filter(None, sentences)).format(**names)
