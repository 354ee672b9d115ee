"""Verdicts as Markdown: some as sentences in README.md, between two markers, and all of them as a table in docs/."""

from collections.abc import Iterable, Mapping
from textwrap import fill
from typing import Any

from vanishing_variance.claims.verdict import CONTRADICTED, VERDICTS, legend
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.markdown import definitions, row
from vanishing_variance.report.formats import beside
from vanishing_variance.report.strongest import Evidence, scale

BEGIN, END = "<!-- verdicts: python -m stages.readme -->", "<!-- end of verdicts -->"
# The claims that the README leads with; those of the paper's that are contradicted follow them.
SHOWN = ("vanishing", "argmax", "dictionary")
HEAD = ("the claim", "in the paper", "verdict", "scale")
COLUMNS = 100
HEADING = """# The verdicts on the paper's claims

For readers of the paper: every claim, judged by a rule in [the code](../src/vanishing_variance/claims/paper.py), with
its strongest evidence: of models comparable with the paper's and trained for at least its steps, then of more seeds,
then of more test sequences; n is the number of seeds. Behind a verdict on accuracy stands the mean over the lengths
beyond training, one variant minus the other, with its 95% interval over seeds. Those that are marked *ours* are not the
paper's. Table 5's is over a baseline that has five times the paper's steps and is still behind the paper's at length
([why](protocol.md#trained-on-up-to-256)).
Evidence and rules: [the record's](../metrics/paper-scale/claims.md), [the default scale's](../metrics/claims.md).
All are verdicts on one network, which a rule [chose](protocol.md) that asks for a gain on the dictionary; what others
gain: [results](results.md#in-short).
"""


def rewritten(text: str, evidence: Mapping[str, Evidence]) -> str:
    """Return the README with how many of the paper's claims got which verdict, those SHOWN, and all contradicted ones.

    Raises InputError where a marker is missing.
    """
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not (begin and end):
        raise InputError(f"README.md: the lines {BEGIN} and {END} must be in it, in this order")
    papers = {key: found for key, found in evidence.items() if not found.claim["where"].startswith("ours")}
    against = [key for key, found in papers.items() if found.claim["verdict"] == CONTRADICTED and key not in SHOWN]
    sentences = [fill(_sentence(evidence[key]), COLUMNS, subsequent_indent="  ") for key in (*SHOWN, *against)]
    return "\n".join([f"{before}{BEGIN}", "", fill(_counts(papers), COLUMNS), "", *sentences, "", f"{END}{after}"])


def table(evidence: Iterable[Evidence]) -> str:
    """Return the page docs/verdicts.md: every claim's strongest evidence, a row each."""
    return "\n".join(
        [HEADING, *definitions(legend()), "", row(HEAD), row(["---"] * len(HEAD)), *map(_row, evidence), ""]
    )


def _counts(papers: Mapping[str, Evidence]) -> str:
    """Return how many of the paper's claims got each verdict."""
    verdicts = [found.claim["verdict"] for found in papers.values()]
    counts = ", ".join(f"{verdicts.count(name)} {name}" for name in VERDICTS if name in verdicts)
    main = "The main ones, and all that are contradicted, after the paper's steps where no other are named:"
    return f"{len(verdicts)} verdicts on the paper's claims, most for each task: {counts}. {main}"


def _sentence(found: Evidence) -> str:
    claim = found.claim
    of = scale(claim).removeprefix("the paper's steps, ")
    return f"- {claim['claim']} ({claim['where']}; {of}): **{claim['verdict']}**{_gain(claim)}.".replace(
        "n = ", "n\u00a0=\u00a0"
    )


def _row(found: Evidence) -> str:
    claim = found.claim
    return row([claim["claim"], claim["where"], f"{claim['verdict']}{_gain(claim)}", scale(claim)])


def _gain(claim: Mapping[str, Any]) -> str:
    """Return our difference in accuracy beside the paper's; empty where the claim is about another number."""
    if claim["unit"] != "pp" or claim["ours"] is None:
        return ""
    interval = "" if claim["low"] is None else f" [{claim['low']:+.1f}, {claim['high']:+.1f}]"
    paper = "" if claim["paper"] is None else f"{claim['paper']:+.1f}"
    return f", {claim['ours']:+.1f} pp{interval}{beside(claim['size'], paper)}"
