"""Imports between the rooms go one way, down."""

import ast

from checkout import ROOT

from vanishing_variance.engine import registry
from vanishing_variance.results.runs import RULES

SOURCE = ROOT / "src/vanishing_variance"
# From the top: a room imports from those below it, and from none beside it.
ROWS = (
    ("demo",),
    ("notebook",),
    ("report",),
    ("studies",),
    ("params", "task_check"),
    ("figures",),
    ("claims",),
    ("results",),
    ("measure", "probe"),
    ("engines",),
    ("plain",),
    ("networks",),
    ("attentions", "norms", "tasks"),
    ("engine",),
    ("statistics",),
    ("harness",),
)
ROW = {name: row for row, names in enumerate(ROWS) for name in names}


def imported(path):
    """The rooms that a file imports from."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("vanishing_variance"):
            room = node.module.split(".")[1:2]
            yield from room or [name.name for name in node.names]


def test_every_room_is_in_the_list():
    found = {path.stem for path in SOURCE.iterdir() if path.suffix == ".py" or any(path.rglob("*.py"))}
    assert found - {"__init__"} == ROW.keys()


def test_a_room_imports_from_those_below_it_alone():
    wrong = set()
    for path in SOURCE.rglob("*.py"):
        name = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        others = {other for other in imported(path) if name in ROW and other in ROW} - {name}
        wrong |= {(str(path.relative_to(SOURCE)), other) for other in others if ROW[other] <= ROW[name]}
    assert wrong == set()


def test_harness_has_no_data_and_names_no_task_range_normaliser_or_rule():
    """What decides a number is in a room that stages declare; those that compute with models do not declare harness."""
    choices = {*registry.names("tasks"), *registry.names("norms"), "short", "long", *RULES}
    for path in (SOURCE / "harness").iterdir():
        if path.name != "__pycache__":
            assert path.suffix == ".py"
            nodes = ast.walk(ast.parse(path.read_text()))
            assert not choices & {node.value for node in nodes if isinstance(node, ast.Constant)}, path
