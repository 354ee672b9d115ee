import pytest
import torch

from vanishing_variance.kernels import matmul as module
from vanishing_variance.kernels.matmul import matmul

SHAPES = [(1, 1, 1), (8, 32, 32), (7, 33, 31), (128, 128, 128), (9, 10, 1500), (1, 100, 2100), (40, 64, 5)]


def factors(shape, dtype=torch.float32):
    rows, columns, inner = shape
    generator = torch.Generator().manual_seed(rows)
    sizes = (3, rows, inner), (3, inner, columns), (3, columns)
    return [torch.randn(size, generator=generator).to(dtype).requires_grad_() for size in sizes]


def strided(x):
    """The same matrices, stored by columns."""
    return x.mT.contiguous().mT


@pytest.mark.parametrize("layout", ["rows", "columns", "both", "slices"])
@pytest.mark.parametrize("shape", SHAPES)
def test_product_and_gradients_are_torchs(shape, layout):
    left, right, bias = factors(shape)
    change = {
        "rows": lambda a, b: (a, b),
        "columns": lambda a, b: (a, strided(b)),
        "both": lambda a, b: (strided(a), strided(b)),
        "slices": lambda a, b: (torch.cat((a, a), 2)[..., : shape[2]], torch.cat((b, b), 1)[:, shape[2] :]),
    }[layout]
    exact = [x.detach().double().requires_grad_() for x in (left, right, bias)]
    towards = torch.randn(3, shape[0], shape[1], generator=torch.Generator().manual_seed(0))
    ours = matmul(*change(left, right), bias)
    expected = torch.baddbmm(exact[2].unsqueeze(1), exact[0], exact[1])
    torch.testing.assert_close(ours.double(), expected, rtol=1e-5, atol=1e-4)
    gradients = torch.autograd.grad(ours, (left, right, bias), towards)
    for one, other in zip(gradients, torch.autograd.grad(expected, exact, towards.double()), strict=True):
        torch.testing.assert_close(one.double(), other, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("compiled", [True, False])
def test_without_bias_compiled_or_not(dtype, compiled, monkeypatch):
    if not compiled:
        monkeypatch.setattr(module, "_library", lambda: None)
    left, right, _ = factors((7, 33, 31), dtype)
    product = matmul(left, right)
    assert product.dtype == dtype
    torch.testing.assert_close(product, left @ right, rtol=1e-5, atol=1e-5)


def test_a_factor_and_a_bias_that_all_seeds_share():
    left, right, bias = (x.detach() for x in factors((7, 33, 31)))
    ours = matmul(left[:1].expand(3, -1, -1), right, bias[:1].expand(3, -1))
    torch.testing.assert_close(ours, left[:1] @ right + bias[:1, None], rtol=1e-5, atol=1e-5)


@pytest.mark.usefixtures("unchecked")
def test_shapes_that_do_not_fit_are_refused():
    left, right, bias = (x.detach() for x in factors((7, 33, 31)))
    for wrong in ((left, right[:, 1:], bias), (left, right[:2], bias), (left, right, bias[:, 1:])):
        with pytest.raises((ValueError, RuntimeError)):
            matmul(*wrong)


def test_a_bias_that_is_strided():
    left, right, bias = (x.detach() for x in factors((7, 33, 31)))
    ours = matmul(left, right, bias.repeat_interleave(2, 1)[:, ::2])
    torch.testing.assert_close(ours, matmul(left, right, bias), rtol=0, atol=0)


def test_what_is_not_a_number_stays_one():
    left, right, bias = (x.detach() for x in factors((7, 33, 31)))
    left[1, 2, 3] = float("nan")
    assert matmul(left, right, bias).isnan().nonzero()[:, :2].unique(dim=0).tolist() == [[1, 2]]


def test_a_weights_gradient_is_laid_out_as_the_weight():
    """Else autograd would copy it."""
    left, right, _ = factors((16, 16, 16))
    matmul(left, right.mT).sum().backward()
    assert right.grad.is_contiguous()
