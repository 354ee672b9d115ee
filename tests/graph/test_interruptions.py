"""`dvc repro` killed at random moments, interrupted, or run twice at once, and then run again: the same bits.

The moments come from a fixed seed; what a machine is doing then, it decides.
"""

import os
import random
import re
import signal
import sys
import time

import psutil
import pytest
from checkout import Copy
from processes import wait_for

pytestmark = pytest.mark.slow

KILLS = 12
# A kill comes so many seconds after the start of one of the next six stages: of 42, each of which takes some seconds.
STAGES, SECONDS = 6, 3.0
# What DVC writes in place, and what it says of such a file when it was killed just then (docs/running.md).
IN_PLACE = {"dvc.lock": r"'./dvc.lock' (is invalid|validation failed)", ".dvc/tmp/rwlock": "Unable to read RWLock-file"}
SIGNS_OF_TROUBLE = ("Traceback", "locked", "busy", "corrupt", "ERROR", "error:")


def anew(finished, folder):
    """Return a copy of the same source in which nothing has run."""
    folder.mkdir(parents=True)
    copy = Copy(folder)
    first = finished("git", "rev-list", "--max-parents=0", "HEAD").strip()
    copy("git", "clone", "--quiet", str(finished.path), ".")
    copy("git", "reset", "--quiet", "--hard", first)
    return copy


def same(copy, finished):
    """Return whether the copy has what the undisturbed run left, recorded and in its folder."""
    copy("git", "add", "--all")
    results = ("--", "dvc.lock", "metrics", "plots")
    differ = copy("git", "diff", "--cached", "--name-only", finished("git", "rev-parse", "HEAD").strip(), *results)
    return differ == "" and "up to date" in copy("dvc", "status", "dvc.yaml")


def stage_of(dvc):
    """Return the process of the stage that a DVC runs; None between stages."""
    try:
        children = psutil.Process(dvc.pid).children()
        return next((one for one in children if any("stages." in part for part in one.cmdline())), None)
    except psutil.Error:
        return None


def kill(dvc, victim):
    """Kill -9 the stage's process when there is one, DVC's, or both."""
    if victim == "stage":
        stage = wait_for(lambda: dvc.poll() is not None or stage_of(dvc))
        if stage is not True:
            stage.kill()
    elif victim == "DVC":
        dvc.kill()
    elif dvc.poll() is None:  # one that has ended has no group
        os.killpg(dvc.pid, signal.SIGKILL)


def start(copy, log, stages):
    """Return a `dvc repro` that has begun so many stages, or ended; a file that it refuses to read is removed."""
    while True:
        with log.open("w") as file:
            dvc = copy.start("dvc", "repro", stdout=file)
        wait_for(lambda: dvc.poll() is not None or log.read_text().count("Running stage") >= stages, 900)  # noqa: B023
        refused = [name for name, sign in IN_PLACE.items() if re.search(sign, log.read_text())]
        if dvc.poll() is None or not refused:
            return dvc
        for name in refused:
            (copy.path / name).unlink()


def test_killed_again_and_again_it_ends_with_the_same_bits(finished, tmp_path):
    copy, moments, log = anew(finished, tmp_path / "copy"), random.Random(0), tmp_path / "log"
    for number in range(KILLS):
        dvc = start(copy, log, moments.randint(1, STAGES))
        time.sleep(moments.uniform(0, SECONDS))
        kill(dvc, ("stage", "DVC", "DVC and stage")[number % 3])
        dvc.wait()  # and the next begins at once, whether the stage has ended or not
        complaints = [line for line in log.read_text().splitlines() if line.startswith(("ERROR", "error"))]
        assert [line for line in complaints if not re.search(r"exited with -9$", line)] == []
    start(copy, log, float("inf")).wait()
    assert same(copy, finished), log.read_text()
    assert not [sign for sign in SIGNS_OF_TROUBLE if sign in log.read_text()]


def test_two_at_once_end_with_the_same_bits(finished, tmp_path):
    copy = anew(finished, tmp_path / "copy")
    both = [copy.start("dvc", "repro", cores=2) for _ in "12"]
    printed = [one.communicate()[0] for one in both]
    for text, one in zip(printed, both, strict=True):
        assert one.returncode == 0 or re.search(r"busy|locked", text), text
    copy("dvc", "repro")
    assert same(copy, finished)
    assert "Traceback" not in "".join(printed)


def test_dvc_parallel_leaves_what_dvc_leaves(finished, tmp_path):
    copy = anew(finished, tmp_path / "copy")
    copy.environment["PYTHONPATH"] = str(copy.path / "src")
    copy(sys.executable, "-m", "dvc_parallel", "repro", "--workers", "3")
    del copy.environment["PYTHONPATH"]
    assert same(copy, finished)
    assert copy.ran("dvc", "repro") == set()


def test_the_same_bytes_in_another_folder_with_another_number_of_processes(finished, tmp_path):
    other = anew(finished, tmp_path / "another" / "and deeper")
    other.environment |= {"HOME": str(tmp_path), "LC_ALL": "C", "PYTHONHASHSEED": "7", "TZ": "Asia/Tokyo"}
    done = other.start("dvc", "repro", cores=2)
    printed = done.communicate()[0]
    assert done.returncode == 0, printed
    one, another = finished.outputs(), other.outputs()
    assert one == another
    assert sum(map(len, one.values())) >= 40  # folders, most of them
    assert same(other, finished)
