"""The hashes of a file: its own, and those of what it imports of this package, however it says so."""

import hashlib

import pytest
from checkout import ROOT

from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.files import write_text
from vanishing_variance.studies import sources

FILES = {
    "__init__.py": "from vanishing_variance.demo import main\n",
    "engine/spread.py": "import vanishing_variance.norms.std\n",
    "networks/__init__.py": "",
    "networks/block.py": "",
    "networks/deep/__init__.py": "from ...networks import block\n",
    "networks/deep/layers.py": "",
    "norms/none.py": "import torch\nfrom vanishing_variance.engine.spread import root_mean_square\n",
    "norms/ln.py": "",
    "norms/std.py": "",
}


@pytest.fixture(autouse=True)
def package(tmp_path, monkeypatch):
    """A package of its own."""
    folder = tmp_path / "vanishing_variance"
    for name, text in FILES.items():
        write_text(folder / name, text)
    monkeypatch.setattr(sources, "PACKAGE", folder)
    return folder


def test_a_file_that_imports_nothing_here_has_its_own_hash_alone():
    own = hashlib.sha256(FILES["norms/none.py"].encode()).hexdigest()[:16]
    assert sources.hashes(["norms/none.py"]) == {"norms/none.py": own}


@pytest.mark.parametrize(
    ("text", "imported"),
    [
        ("from vanishing_variance.norms import ln", ["norms/ln.py"]),
        ("from vanishing_variance.norms.ln import normalise", ["norms/ln.py"]),
        ("import torch, vanishing_variance.norms.ln as ln", ["norms/ln.py"]),
        ("from .ln import normalise", ["norms/ln.py"]),
        ("from . import ln, std", ["norms/ln.py", "norms/std.py"]),
        ("def normalise():\n    from ..networks.block import x", ["networks/__init__.py", "networks/block.py"]),
        (
            "from ..networks.deep import layers",
            [f"networks/{name}.py" for name in ("__init__", "block", "deep/__init__", "deep/layers")],
        ),
        ("from vanishing_variance.engine import spread", []),
        ("from vanishing_variance import evaluate", []),
        ("from norms.ln import normalise", []),
    ],
)
def test_what_a_file_imports_has_its_hash_too_however_deep(package, text, imported):
    write_text(package / "norms/own.py", text + "\n")
    assert list(sources.hashes(["norms/own.py"])) == sorted([*imported, "norms/own.py"])


def test_files_that_import_each_other_are_hashed_once(package):
    write_text(package / "norms/ln.py", "from . import std\n")
    write_text(package / "norms/std.py", "from . import ln\n")
    assert list(sources.hashes(["norms/ln.py"])) == ["norms/ln.py", "norms/std.py"]


def test_a_file_that_is_not_python_is_one_line(package):
    write_text(package / "norms/ln.py", "LEARNABLE = {\n")
    with pytest.raises(InputError, match=r"norms/ln\.py: line 1: '\{' was never closed"):
        sources.hashes(["norms/ln.py"])


def test_the_files_of_the_project_import_what_is_written(monkeypatch):
    monkeypatch.setattr(sources, "PACKAGE", ROOT / "src/vanishing_variance")
    transformer = {f"networks/{name}.py" for name in ("__init__", "paper", "transformer")}
    assert sources.hashes(["networks/transformer.py"]).keys() == transformer
