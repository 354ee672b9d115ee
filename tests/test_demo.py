"""The demo, in any folder, and the notebook of examples/: what is stored of its run, and its code with fewer steps."""

import json

import matplotlib as mpl
import pytest
from checkout import ROOT
from matplotlib import pyplot as plt

from vanishing_variance import demo
from vanishing_variance.harness.frames import read_csv


@pytest.mark.trains
def test_it_prints_tables_and_draws_three_treatments(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.argv", ["demo.py", "here"])
    monkeypatch.setattr(demo, "LENGTHS", (16, 64))
    monkeypatch.setattr(demo, "SEQUENCES", 20)
    small = {"tasks.dictionary.steps.short": 2, "model.width": 16}
    monkeypatch.setattr(demo, "SHARED", demo.SHARED | small)
    demo.main()
    found = read_csv(tmp_path / "here/accuracy.csv")
    assert found.columns.tolist() == ["length", *demo.LINES]
    printed = [line[24:].split() for line in capsys.readouterr().out.splitlines()]
    assert printed[0] == ["16", "64"]
    assert printed[1:] == [[f"{percent:.1f}" for percent in found[name]] for name in demo.LINES]
    assert {path.name for path in tmp_path.rglob("*")} == {"here", "accuracy.csv", "accuracy.png"}


NOTEBOOK = ROOT / "examples/quickstart.ipynb"
STEPS = "8_000"


@pytest.fixture(scope="module")
def code():
    document = json.loads(NOTEBOOK.read_text())
    assert document["nbformat"] == 4
    return [cell for cell in document["cells"] if cell["cell_type"] == "code"]


def source(cell):
    return "".join(cell["source"])


def test_it_makes_the_choices_of_the_demo(code):
    chosen = {}
    exec(source(code[0]), chosen)
    assert chosen["seeds"] == list(demo.SEEDS)
    assert chosen["lengths"] == list(demo.LENGTHS)
    assert chosen["shared"] == demo.SHARED
    assert chosen["treatments"] == demo.LINES
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
