import json

import numpy as np
import pandas as pd
import pytest
from made_up_pieces import piece

from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.frames import write_csv
from vanishing_variance.results.records.stored import read_piece

INCOMPLETE = "does not hold seeds 2 to 3 at every test length; copy the piece again, or delete it and run python -m"


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("piece.json", {"norm": "nonsense"}, "norm is 'nonsense'; must be one of "),
        ("piece.json", {"seeds": [2, 4]}, "seeds is [2, 4]: Value error, consecutive seeds"),
        ("piece.json", {"versions": {}}, "versions.python is missing; copy the piece again, or delete it and run"),
        ("piece.json", {"parameters": {"test.lengths": 5}}, "test.lengths is 5; must be a list of whole numbers"),
        ("accuracy.csv", lambda of: of.assign(norm="std"), "its norm is not that of piece.json, ln; copy the piece"),
        ("accuracy.csv", lambda of: of[:-1], INCOMPLETE),
        ("accuracy.csv", lambda of: pd.concat([of, of[:1]]), INCOMPLETE),
        ("accuracy.csv", lambda of: of.assign(seed=of["seed"] + 0.0), INCOMPLETE),
        ("accuracy.csv", lambda of: of[of["temperature"] != "fitted"], "temperature must be each of plain, adaptive,"),
        ("accuracy.csv", lambda of: of.assign(accuracy=98.5), "accuracy must be a fraction, 0 to 1"),
        ("accuracy.csv", lambda of: of.assign(accuracy=np.nan), "accuracy has a number that is missing or impossible"),
        ("mechanism.csv", lambda of: of.assign(variance_after=0.0), "variance_after has a number that is missing or "),
        ("mechanism.csv", lambda of: of.assign(accuracy=0.5), "its accuracies are not those of accuracy.csv"),
        ("mechanism.csv", lambda of: of.drop(columns="target"), "cannot be read as CSV: it has no column target"),
    ],
)
def test_a_damaged_piece_is_refused_in_a_line(tmp_path, name, change, said):
    path = piece(tmp_path / "piece", "argmax", "ln", [2, 3]) / name
    if name == "piece.json":
        path.write_text(json.dumps(json.loads(path.read_text()) | change))
    else:
        write_csv(path, change(pd.read_csv(path)))
    with pytest.raises(InputError) as refused:
        read_piece(path.parent)
    assert str(refused.value).startswith(f"{path}: {said}")
    assert "\n" not in str(refused.value)
