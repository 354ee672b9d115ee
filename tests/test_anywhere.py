"""The imitations of other processors and machines: each is what it says."""

import subprocess
import sys

import anywhere
import pytest

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder of their own: these tests, too, run under the imitations, whose folders they must leave alone."""
    monkeypatch.setattr(anywhere, "FOLDER", tmp_path / "anywhere")


PRODUCTS = """
import torch
torch.manual_seed(0)
left, right = torch.randn(9, 30, requires_grad=True), torch.randn(30, 9)
product = left @ right
product.square().sum().backward()
print(torch.equal(left @ right, product), (torch.ones(2, 3) @ torch.ones(3)).tolist())
print(product.double().sum().item(), left.grad.double().sum().item())
"""


def test_perturbed_products_have_other_last_bits_but_equal_and_exact_ones_stay():
    """Forward and backward."""
    printed = {}
    for name in ("this-machine", "perturbed"):
        with anywhere.imitated(name) as environment:
            command = [sys.executable, "-c", PRODUCTS]
            printed[name] = subprocess.check_output(command, env=environment, text=True).splitlines()
    (kept, plain), (same, other) = printed["this-machine"], printed["perturbed"]
    assert kept == same == "True [3.0, 3.0]"
    for one, moved in zip(plain.split(), other.split(), strict=True):
        assert 0 < abs(float(one) - float(moved)) < 1e-3
