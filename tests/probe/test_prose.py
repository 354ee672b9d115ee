import hashlib

import pytest

from vanishing_variance.harness.errors import InputError
from vanishing_variance.probe.prose import read_prose


def test_a_file_is_read_as_it_is_and_known_by_its_hash(tmp_path):
    path = tmp_path / "big.txt"
    path.write_text("Sherlock Holmes’s case.\n\n  It was.\n", encoding="utf-8")
    text, digest = read_prose(str(path))
    assert text == "Sherlock Holmes’s case.\n\n  It was.\n"
    assert digest == hashlib.sha256(path.read_bytes()).hexdigest()[:12]


@pytest.mark.parametrize(("name", "said"), [("nowhere.txt", "No such file or directory"), ("latin.txt", "not UTF-8")])
def test_what_is_no_text_is_refused_in_one_line(tmp_path, monkeypatch, name, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "latin.txt").write_bytes("café".encode("latin-1"))
    with pytest.raises(InputError) as refused:
        read_prose(name)
    message = f"params.yaml: probe.text is {name!r}: {said}; must be a UTF-8 file or pydoc_data.topics"
    assert str(refused.value) == message
