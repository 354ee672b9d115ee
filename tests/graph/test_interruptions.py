"""`dvc repro` killed at random moments, interrupted in every stage, or run twice at once; and then run again.

The moments come from a fixed seed; what a machine is doing then, it decides. Each run of several kills ends with one
`dvc repro` that must finish, and leave what an undisturbed one leaves.
"""

import hashlib
import os
import random
import re
import signal
import time

import psutil
import pytest
from checkout import Copy
from processes import wait_for
from undisturbed import anew, same

pytestmark = pytest.mark.slow

RUNS, KILLS = 5, 10
# A kill comes so many seconds after the start of one of the next six stages: of 42, each of which takes some seconds.
STAGES, SECONDS = 6, 3.0
# What DVC writes in place, and what it says of such a file when it was killed just then.
IN_PLACE = {"dvc.lock": r"'./dvc.lock' (is invalid|validation failed)", ".dvc/tmp/rwlock": "Unable to read RWLock-file"}
SIGNS_OF_TROUBLE = ("Traceback", "locked", "busy", "corrupt", "ERROR", "error:")


def stage_of(dvc):
    """The process of the stage that a DVC runs; None between stages."""
    try:
        children = psutil.Process(dvc.pid).children()
        return next((one for one in children if any("stages." in part for part in one.cmdline())), None)
    except psutil.Error:
        return None


def kill(dvc, victim):
    """Kill -9 the stage's process when there is one, DVC's, or all."""
    if victim == "stage":
        stage = wait_for(lambda: dvc.poll() is not None or stage_of(dvc))
        if stage is not True:
            stage.kill()
    elif victim == "DVC":
        dvc.kill()
    else:
        os.killpg(dvc.pid, signal.SIGKILL)


def removed(copy, printed):
    """How many files were removed that DVC refuses for it was killed while it wrote them."""
    refused = [copy.path / name for name, sign in IN_PLACE.items() if re.search(sign, printed)]
    for path in refused:
        path.unlink()
    return len(refused)


def begun(log):
    """How many stages a `dvc repro` has begun."""
    return log.read_text().count("Running stage")


@pytest.mark.parametrize("run", range(RUNS))
def test_killed_ten_times_it_ends_with_the_same_bits(run, finished, tmp_path, tally):
    copy, moments = anew(finished, tmp_path / "copy"), random.Random(run)
    victims = (["stage", "DVC", "DVC and stage"] * KILLS)[run : run + KILLS]
    log, printed, orphans, cut = tmp_path / "log", [], 0, 0

    def start(stages):
        """A `dvc repro` that has begun so many stages; what it refuses to read is removed by hand."""
        nonlocal cut
        while True:
            with log.open("w") as file:
                dvc = copy.start("dvc", "repro", stdout=file)
            wait_for(lambda dvc=dvc: dvc.poll() is not None or begun(log) >= stages, 900)
            if dvc.poll() is None or not (files := removed(copy, log.read_text())):
                return dvc
            cut += files

    for victim in victims:
        dvc = start(moments.randint(1, STAGES))
        time.sleep(moments.uniform(0, SECONDS))
        assert dvc.poll() is None, "it finished before it was killed: make STAGES less"
        lives_on = victim == "DVC" and stage_of(dvc) is not None
        kill(dvc, victim)
        dvc.wait()  # and the next begins at once, whether the stage has ended or not
        orphans += lives_on
        printed.append(log.read_text())
    start(float("inf")).wait()
    last, survived = log.read_text(), same(copy, finished)
    for victim in set(victims):
        tally(f"kill -9 of {victim} in `dvc repro`", victims.count(victim), victims.count(victim) if survived else 0)
    tally("kill -9 while DVC wrote dvc.lock or its rwlock, then the file removed by hand", cut, cut if survived else 0)
    assert survived, last
    assert not [sign for sign in SIGNS_OF_TROUBLE if sign in last]
    # DVC itself says that a stage of its was killed; nothing else is to be read in any run
    complaints = [line for text in printed for line in text.splitlines() if line.startswith(("ERROR", "error"))]
    assert [line for line in complaints if not re.search(r"exited with -9$", line)] == []
    assert orphans


KINDS = (
    *("check", "generate@argmax", "train@dictionary-short-ln-0", "temperature@argmax-short-ln-0"),
    *(
        "evaluate@dictionary-short-ln-0",
        "ttest",
        "mechanism",
        "capacity",
        "interventions",
        "causes",
        "proposition",
        "figures",
    ),
    *("probe", "figure1", "claims", "report"),
)
# While a stage imports what it needs, and in the midst of the work of two that take longer, in seconds from its start.
MOMENTS = [(name, random.Random(name).uniform(0.1, 0.2)) for name in KINDS]


@pytest.mark.parametrize(("name", "moment"), [*MOMENTS, ("evaluate-long@dictionary-long-ln-0", 3.5), ("figures", 3.0)])
def test_ctrl_c_in_a_stage_is_one_line_and_loses_nothing(name, moment, finished, tmp_path, tally):
    for _ in range(3):  # bash and Python can both miss a signal while they start; then Ctrl-C is pressed once more
        with (tmp_path / "log").open("w+") as log:
            dvc = finished.start("dvc", "repro", "--single-item", "--force", name, stdout=log)
            stage = wait_for(lambda: stage_of(dvc))  # noqa: B023
            time.sleep(moment)
            os.killpg(dvc.pid, signal.SIGINT)  # as a terminal does
            exit_code = dvc.wait()
            log.seek(0)
            printed = log.read()
        wait_for(lambda: not stage.is_running())  # noqa: B023
        if exit_code != 0:
            break
    again = finished("dvc", "repro")
    survived = same(finished, finished)
    finished("git", "reset", "--quiet", "--hard")
    tally("Ctrl-C in a stage", 1, exit_code != 0 and survived)
    assert exit_code != 0, printed
    assert survived, again
    assert "Traceback" not in printed
    lines = [line for line in printed.splitlines() if "interrupted" in line]
    assert len(lines) <= 1, printed  # none when Python itself was still starting


def test_two_at_once_end_with_the_same_bits(finished, tmp_path, tally):
    copy = anew(finished, tmp_path / "copy")
    both = [copy.start("dvc", "repro", cores=2) for _ in "12"]
    printed = [one.communicate()[0] for one in both]
    for text, one in zip(printed, both, strict=True):
        assert one.returncode == 0 or re.search(r"busy|locked", text), text
    copy("dvc", "repro")
    survived = same(copy, finished)
    tally("two `dvc repro` at once", 1, survived)
    assert survived
    assert "Traceback" not in "".join(printed)


@pytest.mark.parametrize("part", [0.2, 0.37, 0.97])
def test_a_lock_file_that_is_cut_off_is_put_back_by_git(finished, tally, part):
    """DVC writes dvc.lock in place, so power that fails just then cuts it off."""
    lock = finished.path / "dvc.lock"
    whole = lock.read_bytes()
    lock.write_bytes(whole[: int(len(whole) * part)])
    dvc = finished.start("dvc", "repro")
    printed = dvc.communicate()[0]
    assert dvc.returncode == 0 or re.search(IN_PLACE["dvc.lock"], printed), printed
    finished("git", "checkout", "dvc.lock")
    ran = finished.ran("dvc", "repro")
    survived = same(finished, finished)
    finished("git", "reset", "--quiet", "--hard")
    tally("dvc.lock cut off, then `git checkout dvc.lock`", 1, survived)
    assert ran == set()
    assert survived


def test_a_bit_that_flipped_on_the_disk_is_noticed_and_made_good(finished, tally):
    """In the folder and in DVC's cache, and with the dates as they were: DVC does not look, the stage does."""
    stage, file = "argmax-short-ln-0", finished.path / "runs/trained/ln/short/argmax-0/weights.safetensors"
    whole = file.read_bytes()
    md5 = hashlib.md5(whole).hexdigest()
    cached = finished.path / f".dvc/cache/files/md5/{md5[:2]}/{md5[2:]}"
    for path in (file, cached):
        flip(path)
    assert "up to date" in finished("dvc", "status", "dvc.yaml")
    printed = finished("dvc", "repro", "--single-item", "--force", f"evaluate@{stage}", exit_code=255)
    noticed = re.search(
        r"^error: runs/trained/ln/short/argmax-0/weights.safetensors: .*checksum", printed, re.MULTILINE
    )
    for path in (file, cached):
        path.unlink()
    finished("dvc", "repro")
    survived = bool(noticed) and file.read_bytes() == whole and same(finished, finished)
    finished("git", "reset", "--quiet", "--hard")
    tally("a flipped bit in weights and in DVC's cache", 1, survived)
    assert survived


def flip(path):
    """One bit of a file, in place, with its dates and rights as they were."""
    status, content = path.stat(), bytearray(path.read_bytes())
    content[-9] ^= 8
    path.chmod(0o644)
    path.write_bytes(content)
    path.chmod(status.st_mode)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def test_a_fresh_clone_that_pulls_runs_nothing(finished, tmp_path, tally):
    finished("dvc", "remote", "add", "--force", "--default", "--local", "store", str(tmp_path / "store"))
    finished("dvc", "push", "--quiet")
    clone = Copy(tmp_path / "clone")
    clone.path.mkdir()
    clone("git", "clone", "--quiet", str(finished.path), ".")
    clone("dvc", "remote", "add", "--default", "--local", "store", str(tmp_path / "store"))
    clone("dvc", "pull", "--quiet", "dvc.yaml")  # the leaderboard has not run here
    ran = clone.ran("dvc", "repro")
    tally("a fresh clone pulls from a remote, and runs nothing", 1, ran == set())
    assert ran == set()
