"""Which files are choices."""

import re

import pytest

from vanishing_variance.engine import registry
from vanishing_variance.engine.config import Attention, Norm
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.sections import validate
from vanishing_variance.studies.parameters import LineParams


@pytest.fixture
def beside(tmp_path, monkeypatch):
    """Folders of choices with one each, ours; and beside it what editors and systems leave, or is named otherwise."""
    monkeypatch.setattr(registry, "_PACKAGE", tmp_path)
    for folder in ("norms", "attentions"):
        (tmp_path / folder / "folder.py").mkdir(parents=True)
        (tmp_path / folder / ".#ours.py").symlink_to("user@host.1:2")  # Emacs's lock
        (tmp_path / folder / "gone.py").symlink_to("nowhere")
        for name in ("ours", "my-map", "None", "Own", "1st", "_private", "a b", "größe", "x.y"):
            (tmp_path / folder / f"{name}.py").write_text("\ndef scale(items, parameters): ...\n")
        (tmp_path / folder / "._ours.py").write_bytes(b"\0\5\x16\7\0\2\0\0")  # macOS's resource fork
        (tmp_path / folder / "latin.py").write_bytes("# größe\n".encode("latin-1"))


@pytest.mark.usefixtures("beside")
def test_only_files_by_a_name_that_stages_take_are_choices():
    assert registry.names("norms") == registry.names("attentions") == ["latin", "ours"]
    assert registry.softmax_names() == ["ours"]


@pytest.mark.usefixtures("beside")
@pytest.mark.parametrize("name", ["my-map", "1st", "._ours", "größe", "folder", "gone"])
def test_what_is_no_choice_says_why_wherever_it_is_asked_for(name):
    def said(folder):
        return rf"ours.* \({folder}/{re.escape(name)}\.py is no file with a name of a-z, 0-9 and _\)$"

    with pytest.raises(InputError, match=said("norms")):
        registry.load("norms", name)
    of_line = LineParams.model_fields["norm"].rebuild_annotation()
    for folder, kind in (("norms", Norm), ("attentions", Attention), ("norms", of_line)):
        with pytest.raises(InputError, match=said(folder)):
            validate(name, "key", kind)


@pytest.mark.usefixtures("beside")
@pytest.mark.parametrize("name", ["x" * 5000, "\0", [["x"]]])
def test_what_is_not_there_is_only_unknown(name):
    with pytest.raises(InputError, match=r"choose from latin, ours$"):
        registry.load("norms", name)
