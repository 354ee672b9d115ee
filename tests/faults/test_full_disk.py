import shutil
from contextlib import chdir

import numpy as np
import pandas as pd
import pytest
from disks import fill, no_file_above, read_only, small_disk
from finished import holds, stage, variant
from matplotlib.figure import Figure

from vanishing_variance.core.arrays import write_arrays
from vanishing_variance.core.compiled import compiled
from vanishing_variance.core.errors import InputError
from vanishing_variance.core.files import write_json, write_text
from vanishing_variance.core.frames import write_csv, write_frame
from vanishing_variance.figures.drawing import Drawing
from vanishing_variance.figures.images import write_figure

MANY = np.random.default_rng(0).random(40_000)  # 320 kB, which no format makes small


def write_picture(path, size):
    """A PNG of a few kB, and an SVG that grows with the numbers."""
    figure = Figure(figsize=(1, 1))
    figure.subplots().scatter(MANY[: size // 5], MANY[: size // 5])
    write_figure(path, Drawing(figure, "Points", "Many."))


# By suffix: write so many numbers.
WRITES = {
    ".safetensors": lambda path, size: write_arrays(path, {"x": MANY[:size]}),
    ".parquet": lambda path, size: write_frame(path, pd.DataFrame({"x": MANY[:size]})),
    ".csv": lambda path, size: write_csv(path, pd.DataFrame({"x": MANY[:size]})),
    ".json": lambda path, size: write_json(path, {"x": MANY[:size].tolist()}),
    ".html": lambda path, size: write_text(path, "x" * 8 * size),
    ".png": write_picture,
    ".svg": write_picture,
}
STAGES = {
    "check": (),
    "generate": ("--task", "argmax"),
    **dict.fromkeys(("train", "temperature", "evaluate"), variant("argmax", "short", "ln")),
    **dict.fromkeys(("ttest", "mechanism", "capacity", "interventions", "causes", "proposition", "figures"), ()),
    **dict.fromkeys(("figure1", "claims", "report"), ()),
    "record": ("some-scale", "runs/pieces/dictionary-long-ln-0-1"),
}


def refused(path, size, why):
    """The write is refused in one line; the former file stays, and no other is left."""
    before = contents(path.parent)
    with pytest.raises(InputError) as said:
        WRITES[path.suffix](path, size)
    assert str(said.value) == f"{path}: cannot be written: {why}; make room or make it writable, and run it again"
    after = contents(path.parent)
    if path.suffix == ".svg":  # for which the PNG has been written before
        assert before.pop(path.with_suffix(".png")) != after.pop(path.with_suffix(".png"))
    assert after == before


def contents(folder):
    return {path: path.read_bytes() for path in folder.iterdir()}


@pytest.mark.parametrize("suffix", WRITES)
def test_a_write_that_finds_no_room_keeps_the_former_file(tmp_path, tried, suffix):
    path = tmp_path / f"file{suffix}"
    WRITES[suffix](path, 10)
    limit = 1000 if suffix == ".png" else 100_000
    with tried("no room for a file"), no_file_above(limit):
        refused(path, len(MANY), "File too large")


@pytest.mark.parametrize("suffix", WRITES)
def test_a_write_on_a_full_disk_keeps_the_former_file(tmp_path, tried, suffix):
    with small_disk(tmp_path, 2**18):
        path = tmp_path / f"file{suffix}"
        WRITES[suffix](path, 10)
        (tmp_path / "filler").touch()
        if suffix == ".png":
            fill(tmp_path / "filler")
        with tried("disk full"):
            refused(path, len(MANY), "No space left on device")


@pytest.mark.parametrize("suffix", WRITES)
def test_a_write_into_a_folder_that_is_read_only_keeps_the_former_file(tmp_path, tried, suffix):
    path = tmp_path / "folder" / f"file{suffix}"
    WRITES[suffix](path, 10)
    before = contents(path.parent)
    with read_only(path.parent), tried("read-only folder"), pytest.raises(InputError) as said:
        WRITES[suffix](path, 20)
    assert str(said.value).endswith("; make room or make it writable, and run it again")
    assert contents(path.parent) == before


def is_one_line(said):
    errors = [line for line in said.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1, said
    assert errors == said.splitlines()[-1:], said
    assert ": cannot be written: " in errors[0], said
    assert "Traceback" not in said


@pytest.mark.parametrize("name", STAGES)
def test_a_stage_that_finds_no_room_says_so_and_its_former_results_stay(finished_run, tried, name):
    with tried("a stage finds no room"):
        with no_file_above(0):
            code, said = stage(name, *STAGES[name])
        assert code == 2, said
        is_one_line(said)
        assert finished_run.holds_what_it_held()


@pytest.mark.parametrize("name", STAGES)
def test_a_stage_in_a_read_only_folder_says_so(finished_run, tried, name):
    with tried("a stage in a read-only folder"):
        with chdir("/"), read_only(finished_run.folder), chdir(finished_run.folder):
            code, said = stage(name, *STAGES[name])
        assert code == 2, said
        is_one_line(said)
        assert finished_run.holds_what_it_held()


def test_only_the_note_of_the_time_finds_no_room_and_the_stage_ends_well(finished_run, tried):
    with tried("no room for the note of a time"), no_file_above(len("params.yaml is valid\n")):
        assert stage("check") == (0, "")
    assert finished_run.holds_what_it_held()


@pytest.mark.skipif(not any(shutil.which(name) for name in ("cc", "gcc", "clang")), reason="no C compiler")
def test_where_no_library_finds_room_torch_does_the_work(tmp_path, monkeypatch, capsys, tried):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    source = tmp_path / "answer.c"
    source.write_text("int answer(void) { return ANSWER; }\n")
    with tried("no room for a compiled library"):
        with no_file_above(0):
            assert compiled(source, ANSWER=42) is None
        said = capsys.readouterr().err
        assert said.startswith("answer.c is not compiled, falling back to torch (slower): ")
        assert said.count("\n") == 1
        assert [path for path in (tmp_path / "cache").rglob("*") if path.is_file()] == []
        assert compiled(source, ANSWER=42).answer() == 42


# Of what a stage writes, so much fits: nothing, the small files, some of the others.
LEFT = (0, 2**13, 2**15, 2**17)


@pytest.mark.slow
@pytest.mark.parametrize("left", LEFT)
@pytest.mark.parametrize("name", STAGES)
def test_a_stage_on_a_full_disk_says_so_and_succeeds_once_there_is_room(finished_run, tmp_path, tried, name, left):
    # a record that has a piece refuses it, and derives everything from what it has where no piece is named
    again = STAGES[name][:1] if name == "record" else STAGES[name]
    with chdir("/"), small_disk(tmp_path, 2**25):
        shutil.copytree(finished_run.folder, tmp_path / "run")
        with chdir(tmp_path / "run"), tried("a stage on a full disk"):
            assert stage(name, *STAGES[name])[0] == 0
            before = holds(tmp_path / "run")
            fill(tmp_path / "filler", left)
            code, said = stage(name, *again)
            assert code in {0, 2}, said
            if code == 2:
                is_one_line(said)
            assert holds(tmp_path / "run") == before
            (tmp_path / "filler").unlink()
            assert stage(name, *again)[0] == 0
            assert holds(tmp_path / "run") == before
