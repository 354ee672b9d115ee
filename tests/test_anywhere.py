"""The imitations of other processors and machines: each is what it says."""

import os
import shutil
import subprocess
import sys

import anywhere
import pytest

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder of their own: these tests, too, run under the imitations, whose folders they must leave alone."""
    monkeypatch.setattr(anywhere, "FOLDER", tmp_path / "anywhere")


@pytest.mark.parametrize(("level", "vectors"), [("x86-64-v3", True), ("x86-64-v2", False)])
@pytest.mark.skipif(not anywhere.LEVELS, reason="no C compiler, or not an x86-64 processor")
def test_a_compiler_for_an_older_processor(level, vectors):
    with anywhere.imitated(level) as environment:
        compiler = shutil.which("cc", path=environment["PATH"])
        command = [compiler, "-march=native", "-DNAME=two words", "-dM", "-E", "-x", "c", os.devnull]
        defined = subprocess.check_output(command, env=environment, text=True)
    assert ("__AVX2__" in defined) == vectors
    assert "__AVX512F__" not in defined
    assert "#define NAME two words" in defined


def test_without_a_compiler_every_other_program_is_found():
    with anywhere.imitated("no-compiler") as environment:
        found = {name: shutil.which(name, path=environment["PATH"]) for name in ("cc", "gcc", "clang", "git", "sh")}
    assert [found[name] for name in ("cc", "gcc", "clang")] == [None] * 3
    assert found["git"]
    assert found["sh"]


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
