import json

import pytest

from vanishing_variance.claims.judged import read_claims
from vanishing_variance.claims.verdict import VERDICTS
from vanishing_variance.harness.errors import InputError

WORDS = dict.fromkeys(("claim", "where", "unit", "size", "evidence", "rule"), "")
CLAIM = WORDS | dict.fromkeys(("ours", "low", "high", "paper", "n")) | {"steps": {"argmax": 1}}


def test_every_verdict_can_be_read_and_a_damaged_claim_is_one_line(tmp_path):
    path = tmp_path / "claims.json"
    document = {verdict: {**CLAIM, "verdict": verdict} for verdict in VERDICTS}
    path.write_text(json.dumps(document))
    assert read_claims(path) == document
    for change, said in (
        ({"verdict": "maybe"}, "gain.verdict is 'maybe'; must be one of supported"),
        ({"size": "huge"}, "gain.size is 'huge'; must be one of smaller"),
        ({"steps": {"argmax": "many"}}, "gain.steps.argmax is 'many'"),
    ):
        path.write_text(json.dumps({"gain": {**CLAIM, "verdict": "supported", **change}}))
        with pytest.raises(InputError, match=f"^{path}: {said}"):
            read_claims(path)
