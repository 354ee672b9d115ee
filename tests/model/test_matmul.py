import pytest
import torch
from rounding import rounding

from vanishing_variance.core import compiled
from vanishing_variance.model.kernels import matmul as module
from vanishing_variance.model.kernels.matmul import matmul, product

SHAPES = [(1, 1, 1), (8, 32, 32), (7, 33, 31), (128, 128, 128), (9, 10, 1500), (1, 100, 2100), (40, 64, 5)]

needs_kernel = pytest.mark.skipif(module._compiled() is None, reason="no C compiler, or no AVX-512")


def factors(shape, dtype=torch.float32):
    rows, columns, inner = shape
    generator = torch.Generator().manual_seed(rows)
    sizes = (3, rows, inner), (3, inner, columns), (3, columns)
    return [torch.randn(size, generator=generator).to(dtype) for size in sizes]


def strided(x):
    """The same matrices, stored by columns."""
    return x.mT.contiguous().mT


LAYOUTS = {
    "rows": lambda a, b: (a, b),
    "columns": lambda a, b: (a, strided(b)),
    "both": lambda a, b: (strided(a), strided(b)),
    "slices": lambda a, b: (torch.cat((a, a), 2)[..., : a.shape[2]], torch.cat((b, b), 1)[:, b.shape[1] :]),
}


@pytest.mark.parametrize("multiply", [matmul, pytest.param(product, marks=needs_kernel)])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", SHAPES)
def test_it_is_the_product_in_double_precision(shape, layout, multiply):
    left, right, bias = factors(shape)
    exact = torch.baddbmm(*(x.double() for x in (bias.unsqueeze(1), left, right)))
    tolerance = rounding(shape[2] + 1, (left.abs() @ right.abs()).max().item() + bias.abs().max().item())
    ours = multiply(*LAYOUTS[layout](left, right), bias)
    torch.testing.assert_close(ours.double(), exact, rtol=0, atol=tolerance)
    without = multiply(*LAYOUTS[layout](left, right))
    torch.testing.assert_close(without.double(), exact - bias.double().unsqueeze(1), rtol=0, atol=tolerance)


@pytest.mark.parametrize(("vendor", "ours"), [("GenuineIntel", False), ("AuthenticAMD", True), ("", True)])
@needs_kernel
def test_the_makers_name_alone_decides_who_multiplies(vendor, ours, monkeypatch):
    nothing = torch.zeros(3, 7, 33)
    monkeypatch.setattr(module, "vendor", lambda: vendor)
    monkeypatch.setattr(module, "product", lambda *_: nothing)
    module.library.cache_clear()
    try:
        left, right, bias = factors((7, 33, 31))
        assert (matmul(left, right, bias) is nothing) == ours
        assert matmul(left.double(), right.double(), bias.double()).any()
    finally:
        module.library.cache_clear()


def test_the_makers_name_is_the_processors(monkeypatch):
    monkeypatch.setattr(compiled, "_cpuinfo", lambda: ["processor\t: 0", "vendor_id\t: AuthenticAMD", "vendor_id\t: x"])
    compiled.vendor.cache_clear()
    assert compiled.vendor() == "AuthenticAMD"
    monkeypatch.setattr(compiled, "_cpuinfo", lambda: [])
    compiled.vendor.cache_clear()
    assert not compiled.vendor()
    compiled.vendor.cache_clear()


@needs_kernel
def test_a_factor_and_a_bias_that_all_seeds_share():
    left, right, bias = factors((7, 33, 31))
    ours = product(left[:1].expand(3, -1, -1), right, bias[:1].expand(3, -1))
    torch.testing.assert_close(ours, left[:1] @ right + bias[:1, None], rtol=1e-5, atol=1e-5)


@needs_kernel
@pytest.mark.usefixtures("unchecked")
def test_shapes_that_do_not_fit_are_refused():
    left, right, bias = factors((7, 33, 31))
    for wrong in ((left, right[:, 1:], bias), (left, right[:2], bias), (left, right, bias[:, 1:])):
        with pytest.raises(ValueError, match="shapes do not fit"):
            product(*wrong)


@needs_kernel
def test_a_bias_that_is_strided():
    left, right, bias = factors((7, 33, 31))
    ours = product(left, right, bias.repeat_interleave(2, 1)[:, ::2])
    torch.testing.assert_close(ours, product(left, right, bias), rtol=0, atol=0)


@needs_kernel
def test_what_is_not_a_number_stays_one():
    left, right, bias = factors((7, 33, 31))
    left[1, 2, 3] = float("nan")
    assert product(left, right, bias).isnan().nonzero()[:, :2].unique(dim=0).tolist() == [[1, 2]]
