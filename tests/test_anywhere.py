"""The imitations of other processors and machines: each is what it says."""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import anywhere
import pytest

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder of their own: these tests, too, run under the imitations, whose folders they must leave alone."""
    monkeypatch.setattr(anywhere, "FOLDER", tmp_path / "anywhere")


@pytest.mark.parametrize(("name", "capability"), [("torch-avx2", "AVX2"), ("torch-default", "DEFAULT")])
@pytest.mark.skipif(platform.machine() != "x86_64", reason="not an x86-64 processor")
def test_torch_uses_the_instructions_of_another_processor(name, capability):
    command = [sys.executable, "-c", "import torch; print(torch.backends.cpu.get_cpu_capability())"]
    with anywhere.imitated(name) as environment:
        assert subprocess.check_output(command, env=environment, text=True).split() == [capability]


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


def test_products_of_equal_factors_stay_equal_and_have_other_last_bits():
    """Forward and backward; and products that are exact stay."""
    code = "import torch; torch.manual_seed(0); a = torch.randn(9, 30, requires_grad=True); b = torch.randn(30, 9)\n"
    code += (
        "c = a @ b; (c * c).sum().backward(); print(torch.equal(a @ b, c), (torch.ones(2, 3) @ torch.ones(3)).sum())\n"
    )
    code += "print(c.double().sum().item(), a.grad.double().sum().item())"
    printed = {}
    for name in ("this-machine", "perturbed"):
        with anywhere.imitated(name) as environment:
            command = [sys.executable, "-c", code]
            printed[name] = subprocess.check_output(command, env=environment, text=True).splitlines()
    (kept, plain), (same, other) = printed["this-machine"], printed["perturbed"]
    assert kept == same == "True tensor(6.)"
    for one, moved in zip(plain.split(), other.split(), strict=True):
        assert 0 < abs(float(one) - float(moved)) < 1e-3


def test_the_table_has_what_pytest_counted_and_a_failure_fails(tmp_path, capsys):
    tests = tmp_path / "test_these.py"
    tests.write_text("import pytest\ndef test_a(): pass\ndef test_b(): pass\n@pytest.mark.skip\ndef test_c(): pass\n")
    command = [sys.executable, "-m", "pytest", "--rootdir", str(tmp_path), "-p", "no:cacheprovider", str(tests)]
    passes, fails = "2 | 0 | 0 | 1", "2 | 1 | 0 | 1"
    runs = (
        ("", 0, {"this-machine": passes}),
        ("def test_d(): assert False\n", 1, {"mkl-avx2": fails, "no-compiler": fails}),
    )
    for failing, code, counts in runs:
        tests.write_text(tests.read_text() + failing)
        names = [word for name in counts for word in ("--only", name)]
        with pytest.raises(SystemExit) as ended:
            anywhere.main([*names, "--table", str(tmp_path / "table.md"), "--", *command])
        assert ended.value.code == code
        table = Path(tmp_path / "table.md").read_text()
        assert table in capsys.readouterr().out
        assert [row.rpartition(" | ")[0] for row in table.splitlines()[4:]] == [
            f"| {name} | {outcome}" for name, outcome in counts.items()
        ]
