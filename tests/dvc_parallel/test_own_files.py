"""The files that the tool writes, and its lock."""

import subprocess
import sys

import pytest
from processes import wait_for

from dvc_parallel.errors import InputError
from dvc_parallel.files import exclusive_lock, own_folder, write_text

HOLDS = """
import sys
from dvc_parallel.files import exclusive_lock
with exclusive_lock():
    print("holds", flush=True)
    sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def repository(tmp_path, monkeypatch):
    (tmp_path / ".dvc").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_folder_is_the_repositorys_wherever_in_it_the_process_is(repository, monkeypatch):
    (repository / "below").mkdir()
    monkeypatch.chdir(repository / "below")
    assert own_folder() == repository / ".dvc/tmp/dvc-parallel"


def test_a_text_is_there_as_it_is_and_nothing_else(repository):
    for text in ("one\r\n", "é\n"):
        write_text(repository / "new/file", text)
        assert (repository / "new/file").read_bytes() == text.encode()
    assert [path.name for path in (repository / "new").iterdir()] == ["file"]


def test_what_cannot_be_written_is_one_line_and_leaves_what_was_there(repository, monkeypatch):
    path = repository / "file"
    path.write_text("before")

    def full(number):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(InputError, match=r"file: cannot be written: No space left on device; make room"):
        write_text(path, "after")
    assert path.read_text() == "before"
    assert sorted(one.name for one in repository.iterdir()) == [".dvc", "file"]


def test_another_process_waits_until_the_first_has_ended_however_it_does(repository):
    with subprocess.Popen(
        [sys.executable, "-c", HOLDS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as first:
        assert first.stdout.readline() == "holds\n"
        said = (repository / "said").open("w+")
        with subprocess.Popen(
            [sys.executable, "-c", HOLDS], stdin=subprocess.PIPE, stdout=said, stderr=said, text=True
        ) as second:
            wait_for(lambda: "waiting for it to end" in (repository / "said").read_text())
            first.kill()
            wait_for(lambda: (repository / "said").read_text().endswith("holds\n"))
            second.communicate()
        said.close()
    assert second.returncode == 0


def test_where_no_lock_can_be_there_is_none(repository):
    (repository / ".dvc/tmp").touch()
    with exclusive_lock():
        pass
