"""That the tests check annotations, which conftest.py arranges, and that nothing else does."""

import subprocess
import sys

import pytest
import torch
from jaxtyping import TypeCheckError

from vanishing_variance.inference.temperature import UNCHANGED
from vanishing_variance.model.items import Items
from vanishing_variance.model.kernels.matmul import matmul


def test_a_wrong_shape_is_an_error_here():
    with pytest.raises(TypeCheckError, match="right"):
        matmul(torch.ones(2, 3, 4), torch.ones(2, 5, 3))


def test_a_wrong_type_of_number_is_an_error_here():
    with pytest.raises(TypeCheckError, match="entropy"):
        UNCHANGED.beta(torch.ones(3, dtype=torch.int64))


def test_fields_of_one_record_must_fit_each_other():
    table, index = torch.ones(2, 5, 4), torch.zeros(1, 3, 6, dtype=torch.uint8)
    Items(table, index, torch.ones(2, 1, 4))
    with pytest.raises(TypeCheckError, match="base"):
        Items(table, index, torch.ones(2, 1, 3))


def test_a_stage_checks_no_annotation():
    code = "import sys, stages.train; sys.exit('beartype' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
