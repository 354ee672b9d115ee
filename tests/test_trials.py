"""The scripts that try other protocols, run from end to end at the smallest scale."""

import re
import shutil

import pandas as pd
import pytest
from checkout import ROOT

from benchmarks import averaging, averaging_figure, long_range, protocols, protocols_figure
from benchmarks.rows import read_rows

pytestmark = pytest.mark.trains


@pytest.fixture
def script(monkeypatch, tmp_path):
    """Runs a module's main function: a handful of steps in this process, its tables in a folder of the test's own."""
    for module in (protocols, long_range, averaging):
        monkeypatch.setattr(module, "ROOT", tmp_path)
    shutil.copy(ROOT / "params.yaml", tmp_path)
    (tmp_path / "metrics").mkdir()
    monkeypatch.setenv("PYTHON_CPU_COUNT", "1")
    small = {"STEPS": {"argmax": 10, "dictionary": 4}, "LENGTHS": (16, 32), "SHOWN": (16, 32), "SEQUENCES": 8}
    for name, value in small.items():
        monkeypatch.setattr(protocols, name, value)

    def run(module, *arguments):
        monkeypatch.setattr("sys.argv", [module.__name__, *arguments])
        module.main()
        path = tmp_path / module.__name__.replace("benchmarks.", "metrics/")
        return read_rows(path.with_suffix(".csv"), module.COLUMNS), path.with_suffix(".md").read_text()

    return run


def squeezed(table):
    """Return a table without what aligns its columns."""
    return re.sub(" +", " ", table)


@pytest.mark.parametrize(
    ("task", "name"),
    [
        *(("argmax", "GELU after both layers"), ("argmax", "attention as nn.MultiheadAttention")),
        *(("dictionary", "one layer"), ("dictionary", "L2 0.001"), ("dictionary", "std 1, normaliser after W_O")),
    ],
)
def test_a_protocol_is_trained_tested_and_tabled_and_seeds_that_are_there_are_not_trained_again(script, task, name):
    found, text = script(protocols, task, name, "--seeds", "2")
    assert len(found) == 2 * 2 * 2 * 2  # norms, seeds, temperatures, lengths
    assert f"| {name} | 2 |" in squeezed(text)
    pd.testing.assert_frame_equal(script(protocols, task, name, "--seeds", "2")[0], found)
    assert protocols_figure.draw(protocols.by_protocol(found, 100.0)).caption


def test_longer_ranges_are_trained_tested_and_tabled(script, monkeypatch):
    small = {"tasks.dictionary.steps.long": 4, "tasks.dictionary.data.key_classes": 16384, "model.width": 8}
    small |= {"training.batch_size": 2, "test.lengths": [16, 128, 4096, 8192, 16384], "figures.lengths": [16, 128]}
    monkeypatch.setattr(long_range, "SETTINGS", {"no growth": small | {"ranges.long.growth": None}})
    monkeypatch.setattr(long_range, "SEQUENCES", 2)
    monkeypatch.setattr(long_range, "COLUMNS", long_range.KEYS, raising=False)
    for seeds in ("1", "2", "2"):
        found, text = script(long_range, "dictionary", "no growth", "--seeds", seeds)
    assert found.groupby("length")["seed"].apply(list).to_dict() == {length: [8, 9] for length in small["test.lengths"]}
    assert "| no growth | none | 2 |" in squeezed(text)


def test_a_mean_of_the_weights_after_one_step_is_that_of_the_last_weights(script, monkeypatch):
    """Of 10 steps the mean is of those after the last one alone."""
    monkeypatch.setattr(averaging, "TRIED", {"argmax": {"biases": 2}})
    monkeypatch.setattr(averaging, "BATCHES", 2)
    found, text = script(averaging, "argmax")
    last, mean = (found.query("weights == @name").reset_index(drop=True) for name in ("last", "mean"))
    assert len(last) == 2 * 2 * 2 * 2
    pd.testing.assert_frame_equal(last.drop(columns="weights"), mean.drop(columns="weights"))
    assert "| argmax | biases | 2 |" in squeezed(text)
    assert averaging_figure.draw(found).caption


@pytest.mark.parametrize(
    ("module", "arguments", "said"),
    [
        (protocols, ["sort"], "task: invalid choice: 'sort'"),
        (long_range, ["argmax", "no such"], "setting: no such: choose from: geom"),
        (long_range, ["argmax", "--seeds", "9"], "seeds: 9 must be"),
        (averaging, ["argmax", "std 1"], "protocol: std 1: choose from: biases"),
    ],
)
def test_bad_arguments_are_refused_in_a_line(script, capsys, module, arguments, said):
    with pytest.raises(SystemExit, match="2"):
        script(module, *arguments)
    assert said in capsys.readouterr().err
