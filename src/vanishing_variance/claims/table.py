"""The verdicts as a table, and how many there are of each."""

from collections.abc import Mapping
from typing import Any

from vanishing_variance.claims.verdict import VERDICTS, legend
from vanishing_variance.harness.markdown import MISSING, definitions, estimate, row


def counts(document: Mapping[str, Mapping[str, Any]]) -> dict[str, int]:
    """Return how many claims have each verdict: the columns of `dvc exp show`."""
    verdicts = [claim["verdict"] for claim in document.values()]
    return {verdict.replace(" ", "_"): verdicts.count(verdict) for verdict in VERDICTS}


def markdown(document: Mapping[str, Mapping[str, Any]]) -> str:
    """Return a row a claim: its words, place, verdict, our number with its interval, the paper's; then the rules."""
    lines = ["# The paper's claims", ""]
    lines += [row(["key", "claim", "where", "verdict", "ours", "paper", "unit", "n", "evidence"])]
    lines += [row(["---", "---", "---", "---", "--:", "--:", "---", "--:", "---"])]
    for key, claim in document.items():
        ours = estimate(".3g", claim["ours"], claim["low"], claim["high"])
        numbers = [ours, estimate(".3g", claim["paper"]), claim["unit"], str(claim["n"] or MISSING)]
        verdict = f"**{claim['verdict']}**" + (f", {claim['size']}" if claim["size"] else "")
        lines.append(row([key, claim["claim"], claim["where"], verdict, *numbers, claim["evidence"]]))
    rules: dict[str, list[str]] = {}
    for key, claim in document.items():
        rules.setdefault(claim["rule"], []).append(key)
    lines += ["", *definitions(legend()), "", "What decides, by key:", ""]
    lines += [f"- {', '.join(keys)}: {rule}" for rule, keys in rules.items()]
    return "\n".join([*lines, ""])
