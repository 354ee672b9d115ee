import pytest
import torch
from rounding import rounding

from vanishing_variance.engine.kernels import matmul as module
from vanishing_variance.engine.kernels.matmul import matmul, product

# Rows, columns, and the length of the sums; beside multiples of a block and of a vector.
SHAPES = [(1, 1, 1), (8, 32, 32), (7, 33, 31), (9, 10, 1500), (1, 100, 2100), (40, 64, 5)]
ODD = (7, 33, 31)

needs_kernel = pytest.mark.skipif(module._compiled() is None, reason="no C compiler, or no AVX-512")


def factors(shape):
    rows, columns, inner = shape
    generator = torch.Generator().manual_seed(rows)
    return [torch.randn(3, *size, generator=generator) for size in ((rows, inner), (inner, columns), (columns,))]


LAYOUTS = {
    "rows": lambda a, b, c: (a, b, c),
    "columns": lambda a, b, c: (a, b.mT.contiguous().mT, c),
    "both by columns": lambda a, b, c: (a.mT.contiguous().mT, b.mT.contiguous().mT, c),
    "slices": lambda a, b, c: (torch.cat((a, a), 2)[..., : a.shape[2]], torch.cat((b, b), 1)[:, b.shape[1] :], c),
    "a strided bias": lambda a, b, c: (a, b, c.repeat_interleave(2, 1)[:, ::2]),
    "shared by all seeds": lambda a, b, c: (a[:1].expand(3, -1, -1), b, c[:1].expand(3, -1)),
}


@pytest.mark.parametrize("multiply", [matmul, pytest.param(product, marks=needs_kernel)])
@pytest.mark.parametrize(
    ("shape", "layout"), [*((shape, "rows") for shape in SHAPES), *((ODD, one) for one in LAYOUTS)]
)
def test_it_is_the_product_in_double_precision(shape, layout, multiply):
    left, right, bias = LAYOUTS[layout](*factors(shape))
    exact = torch.bmm(left.double(), right.double())
    off = rounding(shape[2] + 1, (left.abs() @ right.abs()).max().item() + bias.abs().max().item())
    with_bias = exact + bias.double().unsqueeze(1)
    torch.testing.assert_close(multiply(left, right, bias).double(), with_bias, rtol=0, atol=off)
    torch.testing.assert_close(multiply(left, right).double(), exact, rtol=0, atol=off)
