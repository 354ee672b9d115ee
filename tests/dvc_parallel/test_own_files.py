"""The files that the tool writes, and its lock."""

from threading import Event, Thread

import pytest
from processes import wait_for

from dvc_parallel.errors import InputError
from dvc_parallel.files import exclusive_lock, write_text


@pytest.fixture(autouse=True)
def repository(tmp_path, monkeypatch):
    (tmp_path / ".dvc").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


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


def test_a_second_run_says_that_it_waits_and_goes_on_when_the_first_has_ended(capsys):
    entered = Event()

    def second():
        with exclusive_lock():
            entered.set()

    thread = Thread(target=second)
    with exclusive_lock():
        thread.start()
        wait_for(lambda: "another dvc-parallel runs this repository" in capsys.readouterr().err)
        assert not entered.is_set()
    thread.join()
    assert entered.is_set()


def test_where_no_lock_can_be_there_is_none(repository):
    (repository / ".dvc/tmp").touch()
    with exclusive_lock():
        pass
