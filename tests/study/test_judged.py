import json

import pytest

from vanishing_variance.core.errors import InputError
from vanishing_variance.study.judged import read_claims
from vanishing_variance.study.verdict import VERDICTS

NUMBERS = dict.fromkeys(("ours", "low", "high", "paper", "n"))
CLAIM = {
    "claim": "c",
    "where": "w",
    "unit": "",
    "size": "",
    "evidence": "e",
    "rule": "r",
    "steps": {"argmax": 1},
    **NUMBERS,
}


def test_every_verdict_can_be_read(tmp_path):
    path = tmp_path / "claims.json"
    document = {str(place): {**CLAIM, "verdict": verdict} for place, verdict in enumerate(VERDICTS)}
    path.write_text(json.dumps(document))
    assert read_claims(path) == document


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            {"verdict": "maybe"},
            r"gain.verdict is 'maybe'; must be one of supported, .*, not comparable",
        ),
        ({"size": "huge"}, "gain.size is 'huge'; must be one of smaller than the paper's, larger "),
        ({"steps": {"argmax": "many"}}, "gain.steps.argmax is 'many'"),
    ],
)
def test_a_damaged_claim_is_one_line(tmp_path, change, said):
    path = tmp_path / "claims.json"
    path.write_text(json.dumps({"gain": {**CLAIM, "verdict": "supported", **change}}))
    with pytest.raises(InputError, match=f"^{path}: {said}"):
        read_claims(path)
