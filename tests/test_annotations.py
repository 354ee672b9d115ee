"""That the tests check annotations, which conftest.py arranges."""

import pytest
import torch
from jaxtyping import TypeCheckError

from vanishing_variance.engine.kernels.matmul import matmul
from vanishing_variance.measure.inference.temperature import adaptive_beta


def test_a_wrong_shape_or_type_of_number_is_an_error_here():
    with pytest.raises(TypeCheckError, match="right"):
        matmul(torch.ones(2, 3, 4), torch.ones(2, 5, 3))
    with pytest.raises(TypeCheckError, match="entropy"):
        adaptive_beta(torch.ones(3, dtype=torch.int64))
