import json

import numpy as np
import pandas as pd
import pytest
from made_up_pieces import PARAMS, piece

from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.frames import write_csv
from vanishing_variance.results.records.pieces import read_piece

INCOMPLETE = "does not hold seeds 2 to 3 of ln at every test length, once each; copy the piece again, or delete it and"


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("piece.json", {"task": "nonsense"}, "task is 'nonsense': Input should be 'argmax' or 'dictionary'; copy the"),
        ("piece.json", {"range": "long"}, "range is 'long'; must be short, the ranges of params.yaml (train_also_on)"),
        ("piece.json", {"seeds": []}, "seeds is []: List should have at least 1 item after validation"),
        ("accuracy.csv", lambda of: of.assign(norm="std"), INCOMPLETE),
        ("accuracy.csv", lambda of: of[:-1], INCOMPLETE),
        ("accuracy.csv", lambda of: pd.concat([of, of[:1]]), INCOMPLETE),
        ("accuracy.csv", lambda of: of[of["rule"] != "adaptive"], INCOMPLETE),
        ("accuracy.csv", lambda of: pd.concat([of, of[:1].assign(rule="hard")]), INCOMPLETE),
        ("accuracy.csv", lambda of: of.assign(accuracy=np.nan), "accuracy has a number that is missing; copy the "),
        ("mechanism.csv", lambda of: of[of["length"] > 0], INCOMPLETE),
        ("mechanism.csv", lambda of: of.drop(columns="target"), "cannot be read as CSV: it has no column target; copy"),
    ],
)
def test_a_damaged_piece_is_refused_in_a_line(tmp_path, name, change, said):
    path = piece(tmp_path / "piece", "argmax", "ln", [2, 3]) / name
    if name == "piece.json":
        path.write_text(json.dumps(json.loads(path.read_text()) | change))
    else:
        write_csv(path, change(pd.read_csv(path)))
    with pytest.raises(InputError) as refused:
        read_piece(path.parent, PARAMS | {"train_also_on": []})
    assert str(refused.value).startswith(f"{path}: {said}")
    assert "\n" not in str(refused.value)


def test_a_piece_may_have_further_rules(tmp_path):
    path = piece(tmp_path / "piece", "argmax", "ln", [2, 3]) / "accuracy.csv"
    plain = pd.read_csv(path).query("rule == 'plain'")
    more = [plain.assign(rule=rule) for rule in ("hard", "step_00000005")]
    write_csv(path, pd.concat([pd.read_csv(path), *more]))
    assert len(read_piece(path.parent, PARAMS).accuracy) == 4 * len(plain)
