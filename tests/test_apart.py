"""The tools and the study know nothing of each other."""

import re
import sys

import pytest
from checkout import ROOT

TOOL, REVIEW, STUDY = "src/dvc_parallel", "src/results_review", "src/vanishing_variance"
NEEDED = {"dask", "dask_jobqueue", "distributed", "dvc", "dvc_parallel", "filelock"}
IMPORTED = re.compile(r"^\s*(?:from|import) (\w+)", re.MULTILINE)


def source(folder):
    return "\n".join(path.read_text() for path in (ROOT / folder).rglob("*.py"))


@pytest.mark.parametrize(
    ("folder", "other"), [(TOOL, STUDY), (STUDY, TOOL), (REVIEW, STUDY), (STUDY, REVIEW), ("stages", REVIEW)]
)
def test_neither_names_the_other(folder, other):
    assert other.removeprefix("src/") not in source(folder)


def test_the_review_imports_no_stage_and_the_tool_little():
    assert "stages" not in IMPORTED.findall(source(REVIEW))
    assert {*IMPORTED.findall(source(TOOL))} - sys.stdlib_module_names == NEEDED
