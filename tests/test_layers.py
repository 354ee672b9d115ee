"""Imports between packages go one way, down the table of docs/code.md."""

import ast
import re

from checkout import ROOT

SOURCE = ROOT / "src/vanishing_variance"
TABLE = re.findall(r"^\| (`.*?) \|", (ROOT / "docs/code.md").read_text(), flags=re.MULTILINE)
# The package, or module of the top folder, and its row.
ROWS = {name: row for row, names in enumerate(TABLE) for name in re.findall(r"`(\w+)[/.]", names)}
ALLOWED = {("report", "figures")}  # the page says n as the figures do


def imported(path):
    """The packages and modules of the top folder that a file imports from."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("vanishing_variance"):
            of_package = node.module.split(".")[1:2]
            yield from of_package or [name.name for name in node.names]


def test_every_package_and_module_is_in_the_table():
    found = {path.stem for path in SOURCE.iterdir() if path.suffix == ".py" or any(path.rglob("*.py"))}
    assert found - {"__init__"} == ROWS.keys()


def test_a_package_imports_from_those_below_it_alone():
    wrong = set()
    for path in SOURCE.rglob("*.py"):
        name = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        others = {other for other in imported(path) if name in ROWS and other in ROWS} - {name}
        wrong |= {(name, other) for other in others if ROWS[other] <= ROWS[name]}
    assert wrong == ALLOWED
