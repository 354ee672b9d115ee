"""The tools and the study know nothing of each other."""

import ast
import sys
from functools import cache

import pytest
from checkout import ROOT

TOOL, REVIEW, STUDY = "dvc_parallel", "results_review", "vanishing_variance"
NEEDED = {"dask", "dask_jobqueue", "distributed", "dvc", "filelock"}


@cache
def imported(folder):
    """The packages that its sources import, and the first part of each dotted text, for importlib."""
    found, named = set(), set()
    for path in (ROOT / folder).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found |= {name.name.partition(".")[0] for name in node.names}
            elif isinstance(node, ast.ImportFrom):
                found.add(node.module.partition(".")[0])
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                named.add(node.value.partition(".")[0])
    assert found
    return found, named


@pytest.mark.parametrize(("package", "other"), [(TOOL, STUDY), (STUDY, TOOL), (REVIEW, STUDY), (STUDY, REVIEW)])
def test_neither_imports_the_other(package, other):
    assert not any(other in names for names in imported(f"src/{package}"))


def test_the_stages_and_the_review_import_nothing_of_each_other_and_the_tool_little():
    assert REVIEW not in imported("stages")[0]
    assert "stages" not in imported(f"src/{REVIEW}")[0]
    assert imported(f"src/{TOOL}")[0] - {TOOL, *sys.stdlib_module_names} == NEEDED
