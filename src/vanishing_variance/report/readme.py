"""The table of verdicts in README.md, between two markers."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from vanishing_variance.claims.verdict import CONTRADICTED, VERDICTS
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.markdown import table
from vanishing_variance.report.strongest import Evidence
from vanishing_variance.report.verdicts import ours, papers

BEGIN, END = "<!-- verdicts: python -m stages.readme -->", "<!-- end of verdicts -->"
# The claims that the README leads with; those of the paper's that are contradicted follow them.
SHOWN = ("vanishing", "argmax", "dictionary")
HEAD = ("the paper's claim", "where", "verdict", "ours", "paper", "seeds")


def rewritten(text: str, evidence: Mapping[str, Evidence]) -> str:
    """Return the README with the present table. Raises InputError where a marker is missing."""
    before, begin, rest = text.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not end:
        raise InputError(f"README.md: the lines {BEGIN} and {END} must be in it, in this order")
    return f"{before}{begin}\n\n{verdicts(evidence)}\n\n{end}{after}"


def verdicts(evidence: Mapping[str, Evidence]) -> str:
    """Return a row for each claim SHOWN and each contradicted one, and a last one that counts all of the paper's."""
    leading = [evidence[key].claim for key in SHOWN]
    claims = [judged.claim for judged in evidence.values()]
    claims = [claim for claim in claims if not claim["where"].startswith("ours")]
    others = [claim for claim in claims if claim["verdict"] == CONTRADICTED and claim not in leading]
    rows = [_row(claim) for claim in leading + others]
    counts = Counter(claim["verdict"] for claim in claims)
    texts = [f"{counts[verdict]} {verdict}" for verdict in VERDICTS if verdict in counts]
    rows.append([f"all {len(claims)} verdicts", "", ", ".join(texts), "", "", ""])
    return table(HEAD, rows, texts=3)


def _row(claim: Mapping[str, Any]) -> list[str]:
    gain = [ours(claim), papers(claim)] if claim["unit"] == "pp" else ["", ""]
    verdict = f"**{claim['verdict']}**"
    seeds = str(claim["n"] or "")
    return [claim["claim"], claim["where"], verdict, *gain, seeds]
