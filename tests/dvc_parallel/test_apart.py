"""The tool and the study know nothing of each other."""

import ast
import sys
from pathlib import Path

import pytest

SRC = Path(__file__).resolve().parents[2] / "src"
TOOL, STUDY = "dvc_parallel", "vanishing_variance"
NEEDED = {"dask_jobqueue", "distributed", "dvc", "filelock", "tqdm"}


def imported(package):
    """The packages that its sources import, and the first part of each dotted text, for importlib."""
    sources, found, named = sorted((SRC / package).rglob("*.py")), set(), set()
    assert sources
    for node in (node for path in sources for node in ast.walk(ast.parse(path.read_text()))):
        if isinstance(node, ast.Import):
            found |= {name.name.partition(".")[0] for name in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level
            found.add(node.module.partition(".")[0])
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            named.add(node.value.partition(".")[0])
    return found, named


@pytest.mark.parametrize(("package", "other"), [(TOOL, STUDY), (STUDY, TOOL)])
def test_neither_imports_the_other(package, other):
    assert not any(other in names for names in imported(package))


def test_the_tool_needs_dvc_dask_and_little_else():
    assert imported(TOOL)[0] - {TOOL, *sys.stdlib_module_names} == NEEDED
