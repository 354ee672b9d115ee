"""On PYTHONPATH: once a Python process has loaded torch, the last bits of matrix products are other ones.

As on another processor, which adds in another order; but more of it: up to two units in the last place, chosen by the
product's own bits, so that equal products stay equal, whichever process computes them. Short numbers, such as sums of
a few integers, are exact on every processor and stay.
"""

import os
import sys
import warnings
from importlib.abc import Loader, MetaPathFinder
from importlib.util import find_spec

# By name, those of aten that return a product; each has a form that writes into a given tensor, which is left alone.
NOISE = 0x5BD1E995 + 2 * int(os.environ.get("PERTURBED", "0"))  # odd: which bits are moved how
PRODUCTS = ("mm", "bmm", "addmm", "baddbmm", "mv", "addmv")


def shifted(product):
    """Return a floating-point tensor with its elements moved by up to two units in the last place."""
    import torch

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
    import torch

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


class Perturbing(Loader):
    """Loads torch, and then perturbs it."""

    def __init__(self, original):
        self._original = original

    def create_module(self, spec):
        return self._original.create_module(spec)

    def exec_module(self, module):
        self._original.exec_module(module)
        perturb()


class Finder(MetaPathFinder):
    """Finds torch once, for `Perturbing`."""

    def find_spec(self, name, path=None, target=None):
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = find_spec(name)
        spec.loader = Perturbing(spec.loader)
        return spec


sys.meta_path.insert(0, Finder())
