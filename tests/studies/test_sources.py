"""The hashes of a file: its own, and those of what it imports of this package, however it says so."""

import sys
from importlib.util import spec_from_file_location

import pytest

from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.files import write_text
from vanishing_variance.studies import sources

FILES = {
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


@pytest.mark.parametrize(
    ("text", "imported"),
    [
        ("from vanishing_variance.norms import ln", ["norms/ln.py"]),
        ("import torch, vanishing_variance.norms.ln as ln", ["norms/ln.py"]),
        ("from . import ln, std", ["norms/ln.py", "norms/std.py"]),
        ("def normalise():\n    from ..networks.block import x", ["networks/__init__.py", "networks/block.py"]),
        (
            "from ..networks.deep import layers",
            [f"networks/{name}.py" for name in ("__init__", "block", "deep/__init__", "deep/layers")],
        ),
    ],
)
def test_what_a_file_imports_has_its_hash_too_however_deep(package, text, imported):
    write_text(package / "norms/own.py", text + "\n")
    assert list(sources.hashes(["norms/own.py"])) == sorted([*imported, "norms/own.py"])


def test_what_is_not_installed_has_its_hash_wherever_it_is(package, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path / "here")
    for name in ("lib/__init__.py", "lib/own.py", "other.py"):
        write_text(tmp_path / "here" / name, "import json, numpy\n")
    write_text(package / "norms/own.py", "import numpy, other\nfrom lib.own import x\n")
    found = sources.hashes(["norms/own.py"])
    assert list(found) == [
        *(f"../here/{name}" for name in ("lib/__init__.py", "lib/own.py", "other.py")),
        "norms/own.py",
    ]


@pytest.mark.parametrize("name", ["mylab.py", "mylab/__init__.py"])
def test_what_an_editable_install_finds_beside_the_path_has_its_hash(package, tmp_path, monkeypatch, name):
    write_text(tmp_path / "there" / name, "")
    write_text(package / "norms/own.py", "from mylab import x\n")
    is_package = name.endswith("__init__.py")

    class Finder:
        def find_spec(self, module, *_):
            where = [str(tmp_path / "there/mylab")] if is_package else None
            path = tmp_path / "there" / name
            return (
                spec_from_file_location(module, path, submodule_search_locations=where) if module == "mylab" else None
            )

    monkeypatch.setattr(sys, "meta_path", [*sys.meta_path, Finder()])
    assert list(sources.hashes(["norms/own.py"])) == [f"../there/{name}", "norms/own.py"]


def test_a_file_that_is_not_python_is_one_line(package):
    write_text(package / "norms/ln.py", "LEARNABLE = {\n")
    with pytest.raises(InputError, match=r"norms/ln\.py: line 1: '\{' was never closed"):
        sources.hashes(["norms/ln.py"])
