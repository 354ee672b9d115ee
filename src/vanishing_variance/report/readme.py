"""The table of verdicts in README.md, between two markers."""

from collections.abc import Mapping

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
    if not (begin and end):
        raise InputError(f"README.md: the lines {BEGIN} and {END} must be in it, in this order")
    return f"{before}{BEGIN}\n\n{verdicts(evidence)}\n\n{END}{after}"


def verdicts(evidence: Mapping[str, Evidence]) -> str:
    """Return a row for each claim SHOWN and each contradicted one, and a last one that counts all of the paper's."""
    claims = {key: of.claim for key, of in evidence.items() if not of.claim["where"].startswith("ours")}
    against = [key for key, claim in claims.items() if claim["verdict"] == CONTRADICTED and key not in SHOWN]
    rows = []
    for key in [*SHOWN, *against]:
        claim = claims[key]
        gain = [ours(claim), papers(claim)] if claim["unit"] == "pp" else ["", ""]
        rows.append([claim["claim"], claim["where"], f"**{claim['verdict']}**", *gain, str(claim["n"] or "")])
    found = [claim["verdict"] for claim in claims.values()]
    counts = ", ".join(f"{found.count(verdict)} {verdict}" for verdict in VERDICTS if verdict in found)
    rows.append([f"all {len(found)} verdicts", "", counts, "", "", ""])
    return table(HEAD, rows, texts=3)
