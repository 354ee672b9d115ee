"""Imports between packages go one way, down the table of docs/code.md."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "src/vanishing_variance"
TABLE = re.findall(r"^\| (`.*?) \|", (ROOT / "docs/code.md").read_text(), flags=re.MULTILINE)
# The package, or module of the top folder, and its row.
ROWS = {name: row for row, names in enumerate(TABLE) for name in re.findall(r"`(\w+)[/.]", names)}
ALLOWED = {("report", "figures")}  # the chart has the colours of the figures


def imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("vanishing_variance"):
            of_package = node.module.split(".")[1:2]
            yield from of_package or [name.name for name in node.names]


def test_every_package_and_module_is_in_the_table():
    found = {path.stem for path in SOURCE.iterdir() if path.suffix == ".py" or any(path.rglob("*.py"))}
    assert found - {"__init__"} == ROWS.keys()


@pytest.mark.parametrize("name", ROWS)
def test_a_package_imports_from_those_below_it_alone(name):
    files = [SOURCE / f"{name}.py"] if (SOURCE / f"{name}.py").exists() else sorted((SOURCE / name).rglob("*.py"))
    assert files
    for path in files:
        others = {other for other in imported(path) if other != name and other in ROWS and (name, other) not in ALLOWED}
        assert {other for other in others if ROWS[other] <= ROWS[name]} == set(), path
