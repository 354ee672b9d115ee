"""The driver beside DVC itself, on small repositories: the same stages run, the same is recorded, byte for byte."""

import queue
import shutil
import threading

import pytest
from processes import alive, wait_for
from tiny import STAGES, Tiny

from dvc_parallel import clusters
from dvc_parallel.command import Ended
from dvc_parallel.display import Display
from dvc_parallel.driver import Driver, Outcome, summary
from dvc_parallel.pipeline import Pipeline
from dvc_parallel.pool import Pool, Room

# those of libraries that DVC uses
pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")


@pytest.fixture(scope="module")
def client():
    with clusters.local(2) as client:
        yield client


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    repository = Tiny(tmp_path / "tiny")
    monkeypatch.chdir(repository.path)
    return repository


@pytest.fixture
def drive(client, tiny):
    def run(*targets, downstream=False, force=False, keep_going=False, messages=None):
        messages = messages or queue.SimpleQueue()
        start = lambda: Pool(client, messages, machine=2)  # noqa: E731
        driver = Driver(Pipeline(tiny.path), targets, downstream, start, Display(), messages)
        driver.run(force, keep_going)
        return driver.outcome

    return run


def serial(tiny, *arguments, exit_code=0):
    """What `dvc repro` leaves in a copy that has a cache of its own."""
    copy = object.__new__(Tiny)
    copy.path = tiny.path.with_name("serial")
    shutil.copytree(tiny.path, copy.path)
    copy.ran()
    copy.dvc("repro", *arguments, exit_code=exit_code)
    return copy


def test_all_runs_once_and_the_record_is_dvcs_own(tiny, drive):
    other = serial(tiny)
    outcome = drive()
    assert set(outcome.ran) == set(STAGES)
    assert tiny.ran() == other.ran() == dict.fromkeys(STAGES, 1)
    assert tiny.lock() == other.lock()
    assert tiny.clean()


def test_nothing_runs_twice_and_then_no_worker_is_asked_for(tiny, drive):
    drive()
    tiny.ran()
    outcome = drive()
    assert (set(outcome.unchanged), outcome.ran, tiny.ran()) == (set(STAGES), {}, {})


def test_a_parameter_reruns_only_what_depends_on_it(tiny, drive):
    drive()
    tiny.ran()
    tiny.params(b=2)
    other = serial(tiny)
    drive()
    # both has one line more or less, so that end is as it was: neither runs it
    assert tiny.ran() == other.ran() == {"b": 1, "both": 1, "end": 1}
    assert tiny.lock() == other.lock()


def test_an_output_that_comes_out_the_same_stops_there(tiny, drive):
    tiny.write(STAGES | {"b": STAGES["b"] | {"cmd": "echo b >> ran/b; echo same > b"}})
    drive()
    tiny.ran()
    tiny.params(b=2)
    other = serial(tiny)
    outcome = drive()
    assert tiny.ran() == other.ran() == {"b": 1}
    assert {"both", "end"} <= set(outcome.unchanged)
    assert tiny.lock() == other.lock()


def test_coming_back_runs_only_what_dvc_does_not_keep(tiny, drive):
    drive()
    tiny.params(b=2)
    drive()
    tiny.params(b=1)
    tiny.ran()
    other = serial(tiny)
    outcome = drive()
    # an output that git keeps is not in DVC's run cache
    assert tiny.ran() == other.ran() == {"end": 1}
    assert set(outcome.restored) == {"b", "both"}
    assert tiny.lock() == other.lock()


def test_what_did_not_change_waits_for_no_worker(tiny, drive, capsys):
    slow = {name: {"cmd": f"sleep ${{of.b}}; echo > {name}", "params": ["of.b"], "outs": [name]} for name in "xyz"}
    first = {"quick": {"cmd": "echo > quick", "outs": ["quick"]}, "next": {"cmd": "wc quick > n", "deps": ["quick"]}}
    tiny.write(slow | first | {"next": first["next"] | {"outs": ["n"]}})
    tiny.params(b=0)
    drive()
    tiny.params(b=1)
    capsys.readouterr()
    outcome = drive()
    assert (set(outcome.ran), outcome.unchanged) == (set("xyz"), ["quick", "next"])
    printed = capsys.readouterr().out
    assert printed.index("'next' didn't change") < printed.index(" took ")
    assert drive(force=True).unchanged == []


def test_it_tells_how_many_stages_are_done_and_how_long_the_others_take(tiny, drive, capsys, monkeypatch):
    monkeypatch.setattr("dvc_parallel.estimate._estimated", lambda commands: dict.fromkeys(commands, (2.0, None)))
    drive()
    said = [line for line in capsys.readouterr().out.splitlines() if " stages done" in line]
    said = [line.partition(";")[0] for line in said]
    left = ["", "", ", less than a minute left", ", less than a minute left", ""]
    assert said == [f"{number} of 5 stages done{text}" for number, text in enumerate(left, 1)]


def test_it_says_nothing_of_the_time_before_it_has_noted_any(tiny, drive, capsys, monkeypatch):
    monkeypatch.setattr("dvc_parallel.remaining.ENOUGH", 1e-9)
    drive()
    assert " left" not in capsys.readouterr().out
    drive(force=True)
    assert capsys.readouterr().out.count(", less than a minute left") == 4


def test_it_tells_how_many_fail(tiny, drive, capsys):
    tiny.write(STAGES | {"a": STAGES["a"] | {"cmd": "exit 1"}})
    drive(keep_going=True)
    last = [line for line in capsys.readouterr().out.splitlines() if " stages done" in line][-1]
    assert last.startswith("2 of 5 stages done, 3 failed or skipped")


def test_force_runs_all(tiny, drive):
    drive()
    tiny.ran()
    outcome = drive(force=True)
    assert tiny.ran() == dict.fromkeys(STAGES, 1)
    assert set(outcome.ran) == set(STAGES)


def test_a_target_runs_with_what_it_depends_on(tiny, drive):
    other = serial(tiny, "both")
    drive("both")
    assert tiny.ran() == other.ran() == {"a": 1, "b": 1, "both": 1}
    assert tiny.lock() == other.lock()


def test_downstream_runs_what_depends_on_the_target(tiny, drive):
    drive()
    tiny.ran()
    (tiny.path / "in").write_text("other\n")
    other = serial(tiny, "--downstream", "b")
    drive("b", downstream=True)
    assert tiny.ran() == other.ran()
    assert tiny.lock() == other.lock()


def test_a_frozen_stage_does_not_run_and_what_depends_on_it_does_not_wait(tiny, drive):
    drive()
    tiny.write(STAGES | {"b": STAGES["b"] | {"frozen": True}})
    tiny.params(b=2)
    (tiny.path / "in").write_text("other\n")
    tiny.ran()
    other = serial(tiny)
    drive()
    assert tiny.ran() == other.ran()
    assert "b" not in tiny.ran()
    assert tiny.lock() == other.lock()


FAILING = STAGES | {"a": STAGES["a"] | {"cmd": "echo a >> ran/a; exit 3"}}


def test_after_a_failure_nothing_else_begins(tiny, drive, capsys):
    tiny.write({"a": FAILING["a"]} | {f"later{number}": {"cmd": f"touch ran/{number}; sleep 2"} for number in range(9)})
    outcome = drive()
    assert set(outcome.failed) == {"a"}
    assert len(tiny.ran()) < 5
    assert "failed to reproduce 'a': failed to run: echo a >> ran/a; exit 3, exited with 3" in capsys.readouterr().err


def test_with_keep_going_all_runs_that_does_not_need_what_failed(tiny, drive, capsys):
    tiny.write(FAILING)
    other = serial(tiny, "--keep-going", exit_code=255)
    outcome = drive(keep_going=True)
    assert tiny.ran() == other.ran() == {"a": 1, "b": 1, "alone": 1}
    assert set(outcome.failed) == {"a"}
    assert tiny.lock() == other.lock()
    assert "'both', 'end' will be skipped due to this failure" in capsys.readouterr().err


def test_a_missing_output_is_a_failure(tiny, drive):
    tiny.write(STAGES | {"a": STAGES["a"] | {"cmd": "true"}})
    assert "a" in drive().failed["a"]


def test_what_changes_under_a_running_stage_is_not_recorded_as_what_it_read(tiny, drive):
    tiny.write({"a": STAGES["a"] | {"cmd": "cat in > a; echo later > in"}})
    outcome = drive()
    assert outcome.failed == {"a": "'in' changed while 'a' ran, so nothing is recorded"}
    assert tiny.recorded() == {}


@pytest.mark.parametrize(
    ("meta", "said"),
    [
        ({"processes": 0}, "a: meta.processes in dvc.yaml: 0 must be a whole number from 1 on"),
        ({"processes": True}, "a: meta.processes in dvc.yaml: True must be a whole number from 1 on"),
        ({"gpu": "yes"}, "a: meta.gpu in dvc.yaml: 'yes' must be true or false"),
    ],
)
def test_needs_that_are_not_allowed_are_refused_before_anything_is_touched(tiny, drive, meta, said):
    (tiny.path / "a").write_text("mine")
    tiny.write(STAGES | {"a": STAGES["a"] | {"meta": meta}})
    assert drive().failed["a"] == said
    assert (tiny.path / "a").read_text() == "mine"


def test_stages_that_do_not_wait_for_each_other_run_at_once(tiny, drive):
    meet = "touch ran/{0}; while [ ! -e ran/{1} ]; do sleep 0.05; done; touch {0}"
    tiny.write({"a": {"cmd": meet.format("a", "b"), "outs": ["a"]}, "b": {"cmd": meet.format("b", "a"), "outs": ["b"]}})
    assert set(drive().ran) == {"a", "b"}


def test_the_cores_are_divided_between_those_that_run(tiny, drive):
    count = {"cmd": "echo $PYTHON_CPU_COUNT > {0}", "meta": {"processes": 8}}
    meet = "touch ran/{0}; while [ ! -e ran/{1} ]; do sleep 0.05; done; "
    tiny.write(
        {
            name: count | {"cmd": (meet + count["cmd"]).format(name, other), "outs": [name]}
            for name, other in (("a", "b"), ("b", "a"))
        }
    )
    drive()
    assert [(tiny.path / name).read_text() for name in ("a", "b")] == ["1\n", "1\n"]
    tiny.write({"alone": count | {"cmd": count["cmd"].format("alone"), "outs": ["alone"]}})
    drive()
    assert (tiny.path / "alone").read_text() == "2\n"


def test_an_interruption_ends_what_runs_and_keeps_what_has_ended(tiny, drive):
    slow = {"cmd": "echo $$ > ran/slow; exec sleep 60", "deps": ["a"], "outs": ["slow"]}
    tiny.write({"a": STAGES["a"], "slow": slow})
    messages = queue.SimpleQueue()
    noted = tiny.path / "ran/slow"

    def interrupt():
        wait_for(noted.exists)
        messages.put(("interrupt",))

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        drive(messages=messages)
    wait_for(lambda: not alive(int(noted.read_text())))
    assert set(tiny.recorded()) == {"a"}


def test_the_summary_says_what_became_of_the_stages_and_what_was_saved():
    outcome = Outcome(
        ran={"a": Ended(None, 0, 30.0, 25.0), "b": Ended(None, 0, 20.0, 35.0)},
        restored=["c"],
        unchanged=["d", "e"],
        failed={"f": "why"},
    )
    assert summary(outcome, 32.0) == [
        "2 ran, 1 came out of DVC's cache, 2 had not changed, 1 failed: 32 s",
        "the commands took 50 s, 60 s of CPU, 18 s of which were saved",
    ]
    assert summary(outcome, 51.0)[1] == "the commands took 50 s, 60 s of CPU"
    assert summary(Outcome(), 1.0) == ["nothing to do: 1 s"]


def test_each_stage_that_wants_a_gpu_has_one_to_itself_and_waits_for_it(tiny, monkeypatch, capfd):
    monkeypatch.setattr(clusters, "gpus", lambda: ["5"])
    line = "echo begins >> ran/gpu; sleep 0.3; echo $CUDA_VISIBLE_DEVICES > {0}; echo ends >> ran/gpu"
    wants = {name: {"cmd": line.format(name), "outs": [name], "meta": {"gpu": True}} for name in ("a", "b")}
    tiny.write(wants | {"alone": {"cmd": "echo none: $CUDA_VISIBLE_DEVICES > alone", "outs": ["alone"]}})
    messages = queue.SimpleQueue()
    with clusters.local(2) as client:
        start = lambda: Pool(client, messages, machine=2)  # noqa: E731
        Driver(Pipeline(tiny.path), [], False, start, Display(), messages).run(False, False)
    assert [(tiny.path / name).read_text() for name in ("a", "b", "alone")] == ["5\n", "5\n", "none:\n"]
    assert (tiny.path / "ran/gpu").read_text().split() == ["begins", "ends"] * 2


def test_a_stage_that_wants_a_gpu_waits_while_the_worker_that_has_it_is_gone(client):
    pool = Pool(client, queue.SimpleQueue(), machine=2)
    assert not pool.room().ever
    pool._room = Room(2, 2, 2, gpus=1, ever=True)
    pool._seen = float("-inf")
    assert pool.room() == Room(2, 2, 2, gpus=0, ever=True)
