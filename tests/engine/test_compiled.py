import os
import shutil

import pytest

from vanishing_variance.engine.kernels import compiled as module
from vanishing_variance.engine.kernels.compiled import compiled

needs_compiler = pytest.mark.skipif(
    not any(shutil.which(name) for name in ("cc", "gcc", "clang")), reason="no C compiler"
)


@pytest.fixture
def source(tmp_path, monkeypatch):
    """A source in C, and a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    made = tmp_path / "answer.c"
    made.write_text("int answer(void) { return ANSWER; }\n")
    return made


def libraries(tmp_path):
    return sorted((tmp_path / "cache/vanishing-variance").iterdir())


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


@needs_compiler
@pytest.mark.parametrize("damage", [lambda whole: whole[:-1], lambda whole: b"", lambda whole: bytes(len(whole))])
def test_a_damaged_library_is_compiled_anew(source, tmp_path, damage):
    compiled(source, ANSWER=42)
    [path] = libraries(tmp_path)
    whole = path.read_bytes()
    path.unlink()  # to write into a file that is loaded would end this process
    path.write_bytes(damage(whole))
    assert compiled(source, ANSWER=42).answer() == 42
    assert path.read_bytes() == whole


@needs_compiler
@pytest.mark.parametrize("fault", ["a file", "no home directory"])
def test_without_a_cache_it_is_compiled_all_the_same(source, tmp_path, monkeypatch, capsys, fault):
    if fault == "a file":
        (tmp_path / "cache").touch()
    else:
        monkeypatch.delenv("XDG_CACHE_HOME")
        monkeypatch.delenv("HOME", raising=False)
        monkeypatch.setattr(os, "getuid", lambda: 2**31 - 7)  # a number without a name, as by `docker run -u`
    first, second = compiled(source, ANSWER=42), compiled(source, ANSWER=7)
    assert (first.answer(), second.answer()) == (42, 7)
    assert capsys.readouterr().err == ""


@needs_compiler
@pytest.mark.parametrize("fault", ["no compiler", "does not compile"])
def test_where_there_is_no_library_a_line_says_that_torch_does_the_work(source, tmp_path, monkeypatch, capsys, fault):
    if fault == "no compiler":
        monkeypatch.setattr(module.shutil, "which", lambda name: None)
    else:
        source.write_text("int answer(void) { return }\n")
    assert compiled(source, ANSWER=42) is None
    said = capsys.readouterr().err
    assert said.startswith("answer.c is not compiled, falling back to torch (slower): ")
    assert said.count("\n") == 1
    assert not [path for path in (tmp_path / "cache").rglob("*.tmp") if path.is_file()]
