"""That the tests check annotations, which conftest.py arranges."""

import inspect
from importlib import import_module

import pytest
import torch
from annotated import with_shapes
from jaxtyping import TypeCheckError

from vanishing_variance.engine.kernels.matmul import matmul
from vanishing_variance.measure.inference.temperature import adaptive_beta


def test_a_wrong_shape_or_type_of_number_is_an_error_here():
    with pytest.raises(TypeCheckError, match="right"):
        matmul(torch.ones(2, 3, 4), torch.ones(2, 5, 3))
    with pytest.raises(TypeCheckError, match="entropy"):
        adaptive_beta(torch.ones(3, dtype=torch.int64))


@pytest.mark.parametrize("name", with_shapes())
def test_the_functions_of_every_module_whose_annotations_have_shapes_are_checked(name):
    module = import_module(name)
    functions = [value for value in vars(module).values() if inspect.isfunction(value) and value.__module__ == name]
    assert [function.__name__ for function in functions if not hasattr(function, "__wrapped__")] == []
