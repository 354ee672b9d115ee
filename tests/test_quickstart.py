"""The notebook of examples/: what is stored of its run, and its code with fewer steps."""

import base64
import json
import re

import matplotlib as mpl
import pytest
from checkout import ROOT
from matplotlib import pyplot as plt

from vanishing_variance import demo

NOTEBOOK = ROOT / "examples/quickstart.ipynb"
STEPS = "8_000"


@pytest.fixture(scope="module")
def code():
    document = json.loads(NOTEBOOK.read_text())
    assert document["nbformat"] == 4
    return [cell for cell in document["cells"] if cell["cell_type"] == "code"]


def source(cell):
    return "".join(cell["source"])


def test_it_has_what_it_printed_and_drew_and_nothing_of_the_machine(code):
    assert [cell["execution_count"] for cell in code] == [1, 2, 3]
    choices, [table], [picture] = (cell["outputs"] for cell in code)
    assert choices == []
    assert table["name"] == "stdout"
    printed = "".join(table["text"]).splitlines()
    assert re.split("  +", printed[1].strip()) == list(demo.LINES)
    assert [int(line.split()[0]) for line in printed[3:]] == list(demo.LENGTHS)
    png = base64.b64decode(picture["data"].pop("image/png"))
    assert png.startswith(b"\x89PNG")
    assert len(png) < 60_000
    assert not re.search(r"(^|[\s\"'])/\w", json.dumps([table, picture]))
    assert all(cell["metadata"] == {} for cell in code)


def test_it_makes_the_choices_of_the_demo(code):
    chosen = {}
    exec(source(code[0]), chosen)
    assert chosen["seeds"] == list(demo.SEEDS)
    assert chosen["lengths"] == list(demo.LENGTHS)
    assert chosen["shared"] == demo.SHARED
    assert chosen["treatments"] == {name: (norm, changes) for name, (norm, changes, _) in demo.LINES.items()}
    assert f"sequences={demo.SEQUENCES}" in source(code[1])


@pytest.mark.slow
@pytest.mark.trains
def test_its_code_prints_a_table_and_draws_it(code, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    mpl.use("Agg")
    assert [source(cell).count(STEPS) for cell in code] == [1, 0, 0]
    names = {}
    for cell in code:
        exec(source(cell).replace(STEPS, "2"), names)
    table = names["table"]
    assert (table.columns.tolist(), table.index.tolist()) == (list(demo.LINES), list(demo.LENGTHS))
    assert str(table.round(1)) in capsys.readouterr().out
    lines = {line.get_label(): line.get_ydata().tolist() for line in names["axes"].lines}
    assert lines == table.to_dict("list")
    names["axes"].figure.savefig("accuracy.png")
    plt.close("all")
