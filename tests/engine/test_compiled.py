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
@pytest.mark.parametrize("fault", ["no compiler", "no cache", "does not compile"])
def test_where_there_is_no_library_a_line_says_that_torch_does_the_work(source, tmp_path, monkeypatch, capsys, fault):
    if fault == "no compiler":
        monkeypatch.setattr(module.shutil, "which", lambda name: None)
    elif fault == "no cache":
        (tmp_path / "file").touch()
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    else:
        source.write_text("int answer(void) { return }\n")
    assert compiled(source, ANSWER=42) is None
    said = capsys.readouterr().err
    assert said.startswith("answer.c is not compiled, falling back to torch (slower): ")
    assert said.count("\n") == 1
    assert not [path for path in (tmp_path / "cache").rglob("*.tmp") if path.is_file()]
