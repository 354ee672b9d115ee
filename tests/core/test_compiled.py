import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from vanishing_variance.core import compiled as module
from vanishing_variance.core.compiled import compiled

needs_compiler = pytest.mark.skipif(
    not any(shutil.which(name) for name in ("cc", "gcc", "clang")), reason="no C compiler"
)
SRC = Path(__file__).resolve().parents[2] / "src"


@pytest.fixture
def source(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    made = tmp_path / "answer.c"
    made.write_text("int answer(void) { return ANSWER; }\n")
    return made


def libraries(tmp_path):
    return sorted((tmp_path / "cache" / "vanishing-variance").iterdir())


@needs_compiler
def test_it_is_compiled_once_for_each_source_and_definition(source, tmp_path):
    assert compiled(source, ANSWER=42).answer() == 42
    first = libraries(tmp_path)
    written = first[0].stat().st_mtime_ns
    assert compiled(source, ANSWER=42).answer() == 42
    assert libraries(tmp_path) == first
    assert first[0].stat().st_mtime_ns == written
    assert compiled(source, ANSWER=7).answer() == 7
    source.write_text("int answer(void) { return -ANSWER; }\n")
    assert compiled(source, ANSWER=42).answer() == -42
    assert len(libraries(tmp_path)) == 3


def test_none_and_a_line_where_there_is_no_compiler(source, monkeypatch, capsys):
    monkeypatch.setattr(module.shutil, "which", lambda name: None)
    assert compiled(source, ANSWER=42) is None
    expected = "answer.c is not compiled, falling back to torch (slower): there is no C compiler\n"
    assert capsys.readouterr().err == expected


@needs_compiler
def test_every_source_of_the_engine_compiles():
    sources = list((SRC / "vanishing_variance").rglob("*.c"))
    assert len(sources) == 3
    assert all(compiled(source, WIDTH=64) is not None for source in sources)


@needs_compiler
def test_none_and_a_line_where_the_compiler_fails_or_the_cache_cannot_be_written(source, tmp_path, monkeypatch, capsys):
    assert compiled(source) is None
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "error" in said
    assert libraries(tmp_path) == []
    blocked = tmp_path / "a file"
    blocked.write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    assert compiled(source, ANSWER=42) is None


@needs_compiler
@pytest.mark.parametrize("damage", [b"", b"not a library"])
def test_a_damaged_library_is_compiled_anew_once(source, tmp_path, damage):
    """In a process of its own: what this one has loaded stays loaded."""
    script = "from vanishing_variance.core.compiled import *; print(compiled(Path('answer.c'), ANSWER=42).answer())"
    command, environment = [sys.executable, "-c", script], {**os.environ, "PYTHONPATH": str(SRC)}
    written = []
    for damaged in (False, True, False):
        if damaged:
            libraries(tmp_path)[0].write_bytes(damage)
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=True)
        assert (done.stdout, done.stderr) == (b"42\n", b"")
        written.append(libraries(tmp_path)[0].stat().st_ino)
    assert written[0] != written[1] == written[2]
    assert len(libraries(tmp_path)) == 1


@needs_compiler
def test_a_library_that_cannot_be_loaded_even_then_is_none_and_a_line(source, monkeypatch, capsys):
    def refuse(path):
        raise OSError("failed to map segment")

    assert compiled(source, ANSWER=1) is not None
    monkeypatch.setattr(module.ctypes, "CDLL", refuse)
    assert compiled(source, ANSWER=1) is None
    said = capsys.readouterr().err
    assert said == "answer.c is not compiled, falling back to torch (slower): failed to map segment\n"
