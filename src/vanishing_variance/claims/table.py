"""The verdicts as files: all of each claim, a table, and how many there are of each verdict."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from vanishing_variance.claims.evidence import Evidence
from vanishing_variance.claims.judgement import Claim, judge
from vanishing_variance.claims.verdict import AFTER_RESULTS, VERDICTS, legend, shown
from vanishing_variance.harness.markdown import table
from vanishing_variance.harness.numbers import MISSING, estimate
from vanishing_variance.harness.outputs import Files

HEAD = ("key", "claim", "where", "verdict", "ours", "paper", "unit", "n", "evidence")


def judged(claims: Iterable[Claim], evidence: Evidence) -> Files:
    """Return the judgements of claims as claims.json, claims.md and verdicts.json."""
    document = judge(claims, evidence)
    return {"claims.json": document, "verdicts.json": counts(document), "claims.md": markdown(document)}


def counts(document: Mapping[str, Mapping[str, Any]]) -> dict[str, int]:
    """Return how many claims have each verdict: the columns of `dvc exp show`."""
    found = Counter(claim["verdict"] for claim in document.values())
    return {verdict.replace(" ", "_"): found[verdict] for verdict in VERDICTS}


def markdown(document: Mapping[str, Mapping[str, Any]]) -> str:
    """Return a row a claim: its words, place, verdict, our number with its interval, the paper's; then the rules."""
    rows = []
    rules: dict[str, list[str]] = {}
    for key, claim in document.items():
        verdict = f"**{shown(claim)}**"
        if claim["after_results"]:
            verdict += f" {AFTER_RESULTS}"
        if claim["size"]:
            verdict += f", {claim['size']}"
        ours = estimate(".3g", claim["ours"], claim["low"], claim["high"])
        paper = estimate(".3g", claim["paper"])
        n = str(claim["n"] or MISSING)
        texts = {"key": key, **claim, "verdict": verdict, "ours": ours, "paper": paper, "n": n}
        rows.append([texts[name] for name in HEAD])
        rules.setdefault(claim["rule"], []).append(key)
    lines = ["# The paper's claims", "", table(HEAD, rows, texts=len(HEAD)), ""]
    lines += [f"- **{name}**: {meaning}" for name, meaning in legend()]
    lines += ["", "What decides, by key:", ""]
    lines += [f"- {', '.join(keys)}: {rule}" for rule, keys in rules.items()]
    return "\n".join(lines) + "\n"
