import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def imported(folder):
    """The packages that the sources of a folder import anywhere, by their first name."""
    found = set()
    for path in sorted((ROOT / folder).rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found |= {name.name.partition(".")[0] for name in node.names}
            elif isinstance(node, ast.ImportFrom):
                found.add((node.module or "").partition(".")[0])
    return found


@pytest.mark.parametrize("folder", ["src/vanishing_variance", "stages"])
def test_the_study_and_the_review_import_nothing_of_each_other(folder):
    assert "results_review" not in imported(folder)
    assert not {"vanishing_variance", "stages"} & imported("src/results_review")
