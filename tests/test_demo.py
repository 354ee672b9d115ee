"""The demo: in any folder, without a file of the study."""

import pytest

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
