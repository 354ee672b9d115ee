import shutil
from io import BytesIO
from pathlib import Path

import pandas as pd
import pytest
import scripts
from checkout import ROOT
from made_up_pieces import piece, pieces, wider

from stages import record as stage
from vanishing_variance.report.strongest import OTHER_RECORDS, RECORD

SOME = Path("metrics/some")
RECORDS = RECORD, *OTHER_RECORDS
SMALL = "velickovic"


@pytest.fixture
def record(tmp_path, monkeypatch):
    """Runs the script in a folder with smoke parameters; returns its exit code and what it printed."""
    shutil.copy(ROOT / "tests/smoke.yaml", tmp_path / "params.yaml")
    monkeypatch.chdir(tmp_path)
    return lambda *arguments: scripts.stage("record", *map(str, arguments))


@pytest.fixture
def raw(monkeypatch):
    """Derive nothing: a record has the numbers of its pieces alone."""

    def derived(record, norm, trained, paper):
        return {"accuracy.csv": record.accuracy, "mechanism.csv": record.mechanism, "pieces.csv": record.pieces}

    monkeypatch.setattr(stage, "derived", derived)
    monkeypatch.setattr(stage, "judgements", lambda record, trained: {})
    monkeypatch.setattr(stage, "draw", lambda folder, record, trained: None)


@pytest.fixture
def first(raw, record, tmp_path):
    """The pieces of a record that there is, metrics/some."""
    made = pieces(tmp_path, [0, 1], tasks=["argmax"])
    assert record("some", *made) == (0, "")
    return made


@pytest.fixture
def new(tmp_path):
    """A piece that is not in it."""
    return piece(tmp_path / "new", "argmax", "ln", [2, 3])


def holds(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_record_has_the_rows_of_its_pieces_in_whatever_order_they_come(raw, record, tmp_path):
    first, second = pieces(tmp_path, [0, 1]), pieces(tmp_path, [2, 3])
    assert record("at-once", *first, *second) == (0, "")
    for some in (second[:4], [*second[4:], first[0]], first[:0:-1]):
        assert record("in-parts", *some) == (0, "")
    at_once, in_parts = (holds(tmp_path / "metrics" / name) for name in ("at-once", "in-parts"))
    assert at_once == in_parts
    for name in ("accuracy.csv", "mechanism.csv"):
        rows = [line for one in [*first, *second] for line in (one / name).read_text().splitlines()[1:]]
        assert sorted(at_once[name].decode().splitlines()[1:]) == sorted(rows)
    listed = pd.read_csv("metrics/at-once/pieces.csv", keep_default_na=False)
    assert len(listed) == 12
    assert listed.loc[1, ["task", "norm", "first_seed", "last_seed"]].tolist() == ["argmax", "ln", 2, 3]


def test_everything_is_derived_and_a_pair_is_compared_over_the_seeds_that_both_have(record, tmp_path, new):
    assert record("some", *pieces(tmp_path, [0, 1], tasks=["argmax"]), new) == (0, "")
    names = ["accuracy.csv", "mechanism.csv", "pieces.csv", "params.yaml", "mechanism.md"]
    names += ["claims.json", "plots/accuracy.png"]
    names += [f"tables/{name}" for name in ("tests.csv", "gains.md", "paper.csv", "paper.md", "table1.md", "table3.md")]
    assert sorted(holds(SOME)) == sorted(names)
    assert set(pd.read_csv(SOME / "tables/tests.csv", keep_default_na=False)["n"]) == {2}
    accuracy = pd.read_csv(SOME / "accuracy.csv", keep_default_na=False)
    assert sorted(accuracy.query("norm == 'ln'")["seed"].unique()) == [0, 1, 2, 3]


@pytest.mark.parametrize("name", [pytest.param(one, marks=() if one == SMALL else pytest.mark.slow) for one in RECORDS])
def test_a_record_of_the_repository_is_what_is_derived_from_its_pieces(record, tmp_path, name):
    kept = tmp_path / "metrics" / name
    shutil.copytree(ROOT / "metrics" / name, kept)
    before = holds(kept)
    for damaged in ("claims.json", "plots/accuracy.png", "tables/tests.csv"):
        (kept / damaged).write_text("damaged")
    assert record(name) == (0, "")
    after = holds(kept)
    assert after.keys() == before.keys()
    tables = ("tables/gains.md", "tables/table2.md", "tables/paper.md")
    for derived in ("claims.json", "mechanism.csv", "mechanism.md", *tables):
        assert after[derived] == before[derived], derived
    tests = [pd.read_csv(BytesIO(files["tables/tests.csv"])) for files in (before, after)]
    pd.testing.assert_frame_equal(*tests)


def test_what_does_not_belong_is_refused_in_a_line_and_nothing_changes(first, new, record, tmp_path):
    before = holds(SOME)
    other = piece(tmp_path / "other", "argmax", "ln", [2, 3], wider())
    again = piece(tmp_path / "again", "argmax", "ln", [1, 2])
    refused = {
        other: ": model.width is 99; must be 8",
        again: ": task argmax, range short, norm ln, seed 1 is in the record already, with other numbers",
        tmp_path: "/piece.json: cannot be read; python -m stages.pieces leaves pieces in runs/pieces",
    }
    for folder, said in refused.items():
        assert record("some", folder) == (2, f"error: {folder}{said}\n")
        assert holds(SOME) == before


def test_what_is_there_already_is_left_out_with_a_line_and_the_record_keeps_its_parameters(first, new, record):
    path = Path("params.yaml")
    path.write_text(path.read_text().replace("width: ", "width: 1"))
    code, said = record("some", *first, new, new)
    assert (code, said.splitlines()) == (0, [f"{one}: in the record already" for one in [*first, new]])
    assert len(pd.read_csv(SOME / "pieces.csv")) == 4


@pytest.mark.parametrize("name", ["accuracy.csv", "mechanism.csv", "pieces.csv", "params.yaml"])
def test_a_record_that_lacks_a_file_or_rows_is_not_continued(first, new, record, name):
    """As where a process was killed between two files."""
    path = SOME / name
    whole = path.read_text().splitlines(keepends=True)
    if name.endswith(".csv"):
        path.write_text("".join(whole[:3]))
        before = holds(SOME)
        code, said = record("some", new)
        assert (code, said.count("\n"), said.partition("; ")[2]) == (2, 1, "git checkout metrics/some\n")
        assert holds(SOME) == before
    path.unlink()
    code, said = record("some", new)
    assert (code, said.count("\n")) == (2, 1)
    assert said.startswith(f"error: metrics/some/{name}: cannot be read")


@pytest.mark.parametrize("name", ["../out", "tables", "Paper", "", "some"])
def test_a_name_that_is_no_folder_of_metrics_or_a_record_of_nothing_is_refused(record, name):
    code, said = record(name)
    assert (code, said.count("\n")) == (2, 1)
    assert said.startswith("error: ")
    assert not Path("metrics").exists()
