"""Parameter files that are right; those that are not: tests/faults/bad_parameters.py."""

from pathlib import Path

import pytest
import yaml

from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.params import check

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture
def good():
    return yaml.safe_load((ROOT / "tests/smoke.yaml").read_text())


@pytest.mark.parametrize("file", ["params.yaml", "tests/smoke.yaml"])
def test_the_shipped_parameters_are_valid(file):
    check(read_yaml(ROOT / file))


def test_growth_may_be_left_out_or_null(good):
    good["ranges"]["long"]["growth"] = None
    check(good)
    del good["ranges"]["long"]["growth"]
    check(good)


def test_numbers_are_read_as_dvc_reads_them_and_a_byte_order_mark_is_passed_over(tmp_path):
    path = tmp_path / "params.yaml"
    path.write_text("\ufeffa: 1e-3\nb: -2.5E+4\nc: 1e3x\nd: 7\n")
    assert read_yaml(path) == {"a": 1e-3, "b": -25000.0, "c": "1e3x", "d": 7}
