"""The verdicts as files: all of each claim, and how many there are of each verdict."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from vanishing_variance.claims.evidence import Evidence
from vanishing_variance.claims.judgement import Claim, judge
from vanishing_variance.claims.verdict import VERDICTS
from vanishing_variance.harness.outputs import Files


def judged(claims: Iterable[Claim], evidence: Evidence) -> Files:
    """Return the judgements of claims as claims.json and verdicts.json."""
    document = judge(claims, evidence)
    return {"claims.json": document, "verdicts.json": counts(document)}


def counts(document: Mapping[str, Mapping[str, Any]]) -> dict[str, int]:
    """Return how many claims have each verdict: the columns of `dvc exp show`."""
    found = Counter(claim["verdict"] for claim in document.values())
    return {verdict.replace(" ", "_"): found[verdict] for verdict in VERDICTS}
