"""The numbers of docs/results.md are those of the files, which may be damaged."""

import numpy as np
import pytest
from scipy import stats

from vanishing_variance.harness.errors import InputError
from vanishing_variance.report.results import Numbers


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("claims.json", '{"argmax": ', "argmax cannot be read: JSOND"),
        ("accuracy.csv", "<<<<<<< HEAD\nseed,accuracy\n1,0.5\n", "cannot be read as CSV: line 2"),
    ],
)
def test_a_damaged_file_is_one_line(name, text, said):
    of = Numbers({f"folder/{name}": text}.__getitem__, "folder/")
    with pytest.raises(InputError, match=rf"^folder/{name}: {said}[^\n]*; git checkout it[^\n]*$"):
        of.claim("argmax") if name == "claims.json" else of.frame(f"folder/{name}")


def test_a_gain_is_compared_with_another_records_on_the_seeds_of_both():
    rows = [
        (norm, seed, length, 0.5 + gain * (norm == "ln") * (length > 16))
        for seed, gain in enumerate((0.1, 0.3, 0.2, 0.6))
        for norm in ("none", "ln")
        for length in (16, 32, 64)
    ]
    head = "task,range,norm,seed,temperature,length,accuracy\n"
    record = head + "".join(f"argmax,short,{norm},{seed},plain,{n},{right}\n" for norm, seed, n, right in rows)
    other = head + "".join(f"argmax,short,{norm},{seed},plain,{n},0.5\n" for norm, seed, n, _ in rows if seed > 0)
    of = Numbers({"folder/accuracy.csv": record, "other/accuracy.csv": other}.__getitem__, "folder/")
    low, high = stats.t.interval(0.95, 2, np.mean([30, 20, 60]), stats.sem([30, 20, 60]))
    assert of.gains_more("argmax", "other/") == f"+36.7 [{low:.1f}, {high:.1f}] on the same 3 seeds".replace("-", "−")
    assert of.gains_more("dictionary", "other/") == "–"
