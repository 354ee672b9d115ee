"""Files of parameters parsed once: what DVC reads is what is there, and nobody's changes reach another reader."""

import os

import pytest
from dvc.fs import LocalFileSystem
from dvc.utils.serialize import LOADERS, YAMLFileCorruptedError, load_path, load_yaml

from vanishing_variance.repro import parameters


@pytest.fixture
def parsed(monkeypatch):
    """The texts that were parsed; DVC's own loaders afterwards."""
    for suffix in (".yaml", ".yml"):
        monkeypatch.setitem(LOADERS, suffix, load_yaml)
    texts, parse = [], parameters.parse_yaml
    monkeypatch.setattr(parameters, "parse_yaml", lambda text, path: texts.append(text) or parse(text, path))
    parameters._parsed.cache_clear()
    parameters.parse_once()
    yield texts
    parameters._parsed.cache_clear()


def read(path):
    return load_path(str(path), LocalFileSystem())


def test_the_same_text_is_parsed_once(tmp_path, parsed):
    path = tmp_path / "params.yaml"
    path.write_text("a: {b: 1.0e-3}\n")
    assert [read(path) for _ in range(3)] == [{"a": {"b": 1e-3}}] * 3
    assert len(parsed) == 1


def test_another_text_is_read_at_once_even_of_the_same_size_and_time(tmp_path, parsed):
    path = tmp_path / "params.yml"
    for number in (1, 2):
        path.write_text(f"a: {number}\n")
        os.utime(path, (0, 0))
        assert read(path) == {"a": number}


def test_what_one_reader_changes_another_does_not_see(tmp_path, parsed):
    path = tmp_path / "params.yaml"
    path.write_text("a: {b: [1]}\n")
    read(path)["a"]["b"].append(2)
    assert read(path) == {"a": {"b": [1]}}


def test_what_is_no_yaml_is_refused_each_time(tmp_path, parsed):
    path = tmp_path / "params.yaml"
    path.write_text("a: [\n")
    for _ in range(2):
        with pytest.raises(YAMLFileCorruptedError, match=r"params\.yaml"):
            read(path)
