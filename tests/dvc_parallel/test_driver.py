"""The driver beside DVC itself, on small repositories; threads of this process stand for Dask's workers."""

import json
import shutil
import subprocess
import sys
from contextlib import chdir
from queue import SimpleQueue
from threading import Event, Thread
from unittest import mock

import pytest
import yaml
from processes import wait_for
from tiny import ROOT, STAGES, Tiny, stage, until

from dvc_parallel.command import run
from dvc_parallel.exceptions import UsageError
from dvc_parallel.graph import Pipeline
from dvc_parallel.run import Driver, Room

# those of libraries that DVC uses
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")

TWO = Room(stages=2, cores=2, largest=2, gpus=0, ever=False)
FAILING = STAGES | {"a": STAGES["a"] | {"cmd": "echo a >> ran/a; exit 3"}}
FROZEN = STAGES | {"b": STAGES["b"] | {"frozen": True}}
SKIPPED = dict.fromkeys(["both", "end"], "skipped")
# What the driver says, and the file that then lets a stage end.
MARKS = {"Stage 'z' took": "ended", "failed to reproduce 'fails'": "failed"}
SAME = STAGES | {"b": STAGES["b"] | {"cmd": "echo b >> ran/b; echo the same > b"}}


class Drive:
    """A run of the driver, by a pool of threads; when the driver says a text, a reaction may follow."""

    def __init__(self, tiny, *targets, room=TWO, downstream=False):
        self.path, self.messages, self.interrupted, self.reactions = tiny.path, SimpleQueue(), Event(), {}
        self.now, self.submitted, self.running, self.most_gpus = room, {}, [], 0
        self.threads, self.cancelled = [], Event()
        with chdir(self.path):
            self.driver = Driver(Pipeline(self.path, self.interrupted), targets, downstream, lambda: self)

    def __call__(self, force=False, keep_going=False):
        with chdir(self.path), mock.patch("dvc_parallel.run._say", self.say):
            self.driver.run(force, keep_going)
        return self.driver.fates

    def say(self, text, file=None):
        for part, action in self.reactions.items():
            if part in text:
                action()

    def room(self):
        return self.now

    def submit(self, command, cores):
        self.submitted[command.stage] = cores
        self.running.append(command)
        assert sum(self.submitted[one.stage] for one in self.running) <= self.now.cores
        self.most_gpus = max(self.most_gpus, sum(one.gpu for one in self.running))
        self.threads.append(Thread(target=self._run, args=(command, cores)))
        self.threads[-1].start()

    def _run(self, command, cores):
        self.messages.put(("began", command.stage, "here"))
        tell = lambda line: self.messages.put(("line", command.stage, line))  # noqa: E731
        ended = run(command, cores, tell, lambda: not self.cancelled.is_set())
        self.running.remove(command)
        self.messages.put(("ended", command.stage, ended))

    def cancel(self):
        self.cancelled.set()
        for thread in self.threads:
            thread.join()


@pytest.fixture
def tiny(tmp_path):
    return Tiny.new(tmp_path / "tiny")


@pytest.mark.parametrize(
    ("states", "targets", "options", "ran", "others"),
    [
        ([{}], ["both"], {}, {"a", "b", "both"}, {}),
        ([{}, {}], [], {}, set(), dict.fromkeys(STAGES, "unchanged")),
        ([{}, {"b": 2}], ["both"], {}, {"b", "both"}, {"a": "unchanged"}),
        ([{}, {"text": "other"}], ["b"], {"downstream": True}, {"b"}, dict.fromkeys(["both", "end"], "unchanged")),
        ([{"stages": SAME}, {"stages": SAME, "b": 2}], ["both"], {}, {"b"}, dict.fromkeys(["a", "both"], "unchanged")),
        # an output that git keeps is not in DVC's run cache
        ([{}, {"b": 2}, {}], ["end"], {}, {"end"}, {"a": "unchanged", "b": "restored", "both": "restored"}),
        ([{}, {"stages": FROZEN, "b": 2, "text": "x"}], ["both"], {}, {"a", "both"}, {"b": "frozen or data"}),
        ([{"stages": FAILING}], [], {"keep_going": True}, {"a", "b", "alone"}, {"a": "failed"} | SKIPPED),
    ],
)
def test_the_same_stages_run_and_the_same_is_recorded_as_by_dvc(tiny, states, targets, options, ran, others):
    """DVC has run at all states but the last."""
    for state in states[:-1]:
        tiny.write(**state)
        tiny.dvc()
    tiny.ran()
    tiny.write(**states[-1])
    other = tiny.copied()
    other.dvc(*targets, **options)
    drive = Drive(tiny, *targets, downstream="downstream" in options)
    fates = drive(force="force" in options, keep_going="keep_going" in options)
    assert tiny.ran() == other.ran() == dict.fromkeys(ran, 1)
    assert tiny.lock() == other.lock()
    assert fates == dict.fromkeys(ran, "ran") | others


def test_without_keep_going_running_stages_end_after_a_failure_and_no_other_begins(tiny):
    slow = stage("slow", "echo > ran/slow", until("ran/failed"))
    fails = stage("fails", until("ran/slow"), "exit 3")
    tiny.write({"slow": slow, "fails": fails, "after": stage("after", deps=["slow"]), "third": stage("third")})
    drive = Drive(tiny)
    drive.reactions["failed to reproduce 'fails'"] = (tiny.path / "ran/failed").touch
    assert drive() == {"slow": "ran", "fails": "failed"}
    assert set(drive.submitted) == {"slow", "fails"}
    assert tiny.recorded() == {"slow"}


def test_records_are_in_dvcs_order_whichever_stage_ends_first(tiny):
    tiny.write({"first": stage("first", until("ran/on")), "second": stage("second")})
    drive = Drive(tiny)
    drive.reactions["Stage 'second' took"] = (tiny.path / "ran/on").touch
    assert set(drive()) == {"first", "second"}
    assert list(yaml.safe_load(tiny.lock())["stages"]) == ["first", "second"]


def test_an_interruption_leaves_the_records_of_all_that_has_ended(tiny):
    """Also behind one in DVC's order that has not, and of one whose end nobody has listened to."""
    quick = {"second": stage("second"), "third": stage("third", until("ran/on"), "echo ends")}
    tiny.write({"first": stage("first", until("never"))} | quick)
    drive = Drive(tiny, room=Room(3, 3, 3, gpus=0, ever=False))

    def end_and_interrupt():
        drive.threads[list(drive.submitted).index("third")].join()
        drive.interrupted.set()

    drive.reactions = {"Stage 'second' took": (tiny.path / "ran/on").touch, "third| ends": end_and_interrupt}
    with pytest.raises(KeyboardInterrupt):
        drive()
    assert list(yaml.safe_load(tiny.lock())["stages"]) == ["second", "third"]
    assert locked(tiny) == []


def test_a_failure_leaves_the_records_of_all_that_has_ended(tiny):
    """Also behind one in DVC's order that does not begin any more."""
    chain = {"a": stage("a", until("ran/failed")), "b": stage("b", deps=["a"])}
    others = {"fails": stage("fails", until("ran/ended"), "exit 3"), "z": stage("z")}
    tiny.write(chain | others)
    drive = Drive(tiny, room=Room(3, 3, 3, gpus=0, ever=False))
    drive.reactions = {said: (tiny.path / f"ran/{name}").touch for said, name in MARKS.items()}
    assert drive() == {"z": "ran", "fails": "failed", "a": "ran"}
    assert tiny.recorded() == {"a", "z"}
    assert locked(tiny) == []


def locked(tiny):
    """The files that DVC takes for locked."""
    kinds = json.loads((tiny.path / ".dvc/tmp/rwlock").read_text())
    return [path for paths in kinds.values() for path in paths]


def other_dvc(tiny, name):
    """Start `dvc repro` beside this process."""
    command = [sys.executable, "-m", "dvc", "repro", name]
    return subprocess.Popen(command, cwd=tiny.path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


@pytest.mark.parametrize("unrecorded", [False, True])
def test_another_dvc_says_that_a_stage_is_busy_until_it_is_recorded(tiny, unrecorded):
    """One that has ended is not recorded while another one runs that comes before it in DVC's order."""
    tiny.write({"first": stage("first", "echo > ran/first", until("ran/on")), "same": stage("same", deps=["in"])})
    drive, said = Drive(tiny), []

    def try_it():
        with other_dvc(tiny, "same" if unrecorded else "first") as process:
            said.append(process.communicate()[0])
        (tiny.path / "ran/on").touch()

    drive.reactions["Stage 'same' took"] = try_it
    assert drive() == {"first": "ran", "same": "ran"}
    assert "is busy, it is being blocked by:" in said[0]
    assert locked(tiny) == []


def test_a_stage_that_another_dvc_runs_is_waited_for_while_others_run_and_not_run_again(tiny):
    begun = tiny.path / "ran/busy"
    uncached = {"outs": [{"busy": {"cache": False}}]}
    tiny.write({"busy": stage("busy", "echo >> ran/busy", until("ran/on")) | uncached, "b": STAGES["b"]})
    with other_dvc(tiny, "busy") as process:
        wait_for(lambda: begun.exists() and locked(tiny))
        drive, heard = Drive(tiny), []
        drive.reactions["'busy' waits for another DVC: "] = lambda: heard.append("busy")
        drive.reactions["Stage 'b' took"] = (tiny.path / "ran/on").touch
        assert drive() == {"b": "ran", "busy": "unchanged"}
    assert process.returncode == 0
    assert heard == ["busy"]
    assert tiny.ran() == {"b": 1, "busy": 1, "on": 0}
    assert tiny.recorded() == {"b", "busy"}


@pytest.mark.parametrize(
    ("line", "said"),
    [("true", "output 'a' does not exist"), ("cat in > a; echo later > in", "'in' changed while 'a' ran")],
)
def test_an_output_that_is_missing_or_of_a_file_that_changed_meanwhile_is_not_recorded(tiny, line, said):
    tiny.write({"a": STAGES["a"] | {"cmd": line}})
    drive, heard = Drive(tiny), []
    drive.reactions[said] = lambda: heard.append(said)
    assert drive() == {"a": "failed"}
    assert heard == [said]
    assert tiny.recorded() == set()


@pytest.mark.parametrize(
    ("key", "value"), [("processes", 0), ("processes", True), ("processes", "8/0"), ("gpu", "yes")]
)
def test_needs_that_are_not_allowed_are_refused_before_anything_is_touched(tiny, key, value):
    (tiny.path / "a").write_text("mine")
    tiny.write({"a": STAGES["a"] | {"meta": {key: value}}})
    with pytest.raises(UsageError, match=f"^dvc.yaml: a: meta.{key}: {value!r} must be "):
        Drive(tiny)
    assert (tiny.path / "a").read_text() == "mine"


def test_training_has_a_core_for_each_process_that_a_block_is_cut_into(tmp_path):
    """In the project's own graph, whose parameters have so many seeds."""
    tiny = Tiny.new(tmp_path / "project")
    parameters = yaml.safe_load((ROOT / "params.yaml").read_text())
    parameters["seeds_per_block"] = 30
    (tiny.path / "params.yaml").write_text(yaml.safe_dump(parameters))
    shutil.copy(ROOT / "dvc.yaml", tiny.path)
    name = "train@argmax-short-ln-0"
    with chdir(tiny.path):
        pipeline = Pipeline(tiny.path, Event())
        pipeline.plan([name], downstream=False)
        assert pipeline.command(name).processes == 8
    assert parameters["training"]["seeds_per_process"] == 4


@pytest.mark.parametrize(
    ("needs", "room", "cores"),
    [
        ({"processes": 2}, Room(3, 3, 3, gpus=0, ever=False), {"x": 2, "y": 1}),
        ({"processes": "9/4"}, Room(8, 8, 8, gpus=0, ever=False), {"x": 3, "y": 3}),
        ({"processes": 8, "gpu": True}, Room(8, 8, 8, gpus=2, ever=True), {"x": 4, "y": 4}),
    ],
)
def test_stages_that_do_not_wait_for_each_other_run_at_once_on_cores_of_their_own(tiny, needs, room, cores):
    """Each of two ends when the other has begun; with GPUs each has its part of the cores."""
    x = stage("x", "echo > ran/x", until("ran/y"), meta=needs)
    y = stage("y", "echo > ran/y", until("ran/x"), meta=needs)
    tiny.write({"x": x, "y": y})
    drive = Drive(tiny, room=room)
    drive()
    assert drive.submitted == cores


def test_the_stage_after_which_most_others_come_begins_first(tiny):
    chain = {"a": stage("a"), "b": stage("b", deps=["a"]), "c": stage("c", deps=["b"])}
    tiny.write({name: stage(name) for name in "vwxyz"} | chain)
    drive = Drive(tiny, room=Room(1, 1, 1, gpus=0, ever=False))
    drive()
    assert list(drive.submitted)[:2] == ["a", "b"]


def test_a_stage_that_wants_a_gpu_has_it_alone_and_waits_while_its_worker_is_gone(tiny):
    """The worker comes when the driver says that it waits for it."""
    wants = {name: stage(name, "sleep 0.3", meta={"gpu": True}) for name in ("x", "y")}
    tiny.write({"none": stage("none"), "after": stage("after", deps=["none"])} | wants)
    drive = Drive(tiny, room=Room(3, 3, 3, gpus=0, ever=True))
    without = []

    def worker_comes():
        without.extend(drive.submitted)
        drive.now = Room(3, 3, 3, gpus=1, ever=True)

    drive.reactions["waiting for a worker with a GPU"] = worker_comes
    assert set(drive()) == {"none", "after", "x", "y"}
    assert set(without) == {"none", "after"}
    assert drive.most_gpus == 1
