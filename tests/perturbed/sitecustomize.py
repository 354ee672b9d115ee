"""On PYTHONPATH: in every Python process the last bits of torch's matrix products are other ones.

As on another processor, which adds in another order; but more of it: up to two units in the last place, chosen by the
product's own bits, so that equal products stay equal, whichever process computes them. Short numbers, such as sums of
a few integers, are exact on every processor and stay.
"""

import os
import warnings

import torch

# By name, those of aten that return a product; each has a form that writes into a given tensor, which is left alone.
NOISE = 0x5BD1E995 + 2 * int(os.environ.get("PERTURBED", "0"))  # odd: which bits are moved how
PRODUCTS = ("mm", "bmm", "addmm", "baddbmm", "mv", "addmv")


def shifted(product):
    """Return a floating-point tensor with its elements moved by up to two units in the last place."""
    kinds = {torch.float32: (torch.int32, 30), torch.float64: (torch.int64, 62)}
    if product.dtype not in kinds:
        return product
    whole, places = kinds[product.dtype]
    bits = product.contiguous().view(whole)
    noise = (bits * NOISE) >> places  # -2, -1, 0 or 1
    moved = (bits + noise).view(product.dtype)
    normal = product.isfinite() & (product.abs() > torch.finfo(product.dtype).tiny * 16)
    return torch.where(normal & ((bits & 0xFF) != 0), moved, product)


def perturb():
    """Replace torch's products on the CPU."""
    library = torch.library.Library("aten", "IMPL")

    def replaced(name):
        into = getattr(torch.ops.aten, name).out

        def product(*arguments, **options):
            return shifted(into(*arguments, **options, out=arguments[0].new_empty(0)))

        return product

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a kernel is replaced
        for name in PRODUCTS:
            library.impl(name, replaced(name), "CPU")
    torch._perturbed = library  # it lasts as long as this object


perturb()
