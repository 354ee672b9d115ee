import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import yaml
from processes import wait_for

from stages.pieces import KINDS, PIECES, check_computed, missing
from vanishing_variance.core.errors import InputError
from vanishing_variance.core.frames import write_csv
from vanishing_variance.core.locks import exclusive_lock
from vanishing_variance.core.paths import Run
from vanishing_variance.record.folder import replace, restore
from vanishing_variance.record.pieces import parameters, with_piece
from vanishing_variance.record.stored import read_piece, write_piece
from vanishing_variance.report.strongest import OTHER_RECORDS, RECORD
from vanishing_variance.study.columns import CSV

ROOT = Path(__file__).resolve().parents[2]
PARAMS = yaml.safe_load((ROOT / "tests/smoke.yaml").read_text())
MACHINE = {"cores": 2, "versions": {"python": "3.11", "torch": "2.13", "numpy": "2.4"}, "revision": "abc"}


def piece(folder, task, norm, seeds, params=PARAMS, device="some CPU", range_="short"):
    """A piece whose numbers are made up, by seed, so that it is the same whoever makes it."""
    rows, inside = [], []
    for seed in seeds:
        rng = np.random.default_rng([seed, len(norm), len(task)])
        model = {"task": task, "range": range_, "norm": norm, "seed": seed}
        for length in params["test"]["lengths"]:
            values = {temperature: rng.uniform(0.4, 0.9) for temperature in ("adaptive", "fitted", "plain")}
            rows += [model | {"temperature": name, "length": length, "accuracy": of} for name, of in values.items()]
            numbers = {name: round(rng.uniform(0.1, 1), 6) for name in CSV["mechanism"][6:]}
            inside.append(model | {"length": length, "accuracy": values["plain"]} | numbers)
    described = {"task": task, "range": range_, "norm": norm, "seeds": list(seeds), "device": device, "minutes": 1.5}
    accuracy = pd.DataFrame(rows)[[*CSV["accuracy"]]]
    made = described | MACHINE | {"parameters": parameters(params, task, range_)}
    write_piece(folder, made, accuracy, pd.DataFrame(inside)[[*CSV["mechanism"]]])
    return str(folder)


@pytest.fixture
def checkout(tmp_path):
    """What `stages.record` reads beside pieces."""
    for name in ("src", "stages"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "tests/smoke.yaml", tmp_path / "params.yaml")
    return tmp_path


def record(checkout, *arguments):
    command = [sys.executable, "-m", "stages.record", *arguments]
    here = {**os.environ, "PYTHONPATH": str(checkout / "src")}
    return subprocess.run(command, cwd=checkout, env=here, check=False, capture_output=True, text=True)


def holds(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def pieces(tmp_path, seeds, params=PARAMS, tasks=("argmax", "dictionary"), norms=("none", "std", "ln")):
    where = tmp_path / f"pieces {seeds[0]}"
    return [piece(where / f"{task}-{norm}", task, norm, seeds, params) for task in tasks for norm in norms]


def test_a_record_of_pieces_does_not_depend_on_where_and_in_which_order_they_were_made(checkout, tmp_path):
    first, second = pieces(tmp_path, [0, 1]), pieces(tmp_path, [2, 3])
    done = record(checkout, "at-once", *first, *second)
    assert (done.returncode, done.stderr) == (0, "")
    for some in (second[:4], [*second[4:], first[0]], first[:0:-1]):
        done = record(checkout, "in-parts", *some)
        assert (done.returncode, done.stderr) == (0, "")
    at_once, in_parts = (holds(checkout / "metrics" / name) for name in ("at-once", "in-parts"))
    assert at_once == in_parts
    derived = {
        "tables/tests.csv",
        "claims.json",
        "verdicts.json",
        "explained.csv",
        "tables/paper.md",
        "tables/table1.md",
    }
    assert derived | {"params.yaml", "pieces.csv", "accuracy.csv", "plots/accuracy.svg"} <= at_once.keys()
    found = pd.read_csv(checkout / "metrics/at-once/pieces.csv")
    assert len(found) == 12
    assert found["device"].unique().tolist() == ["some CPU"]
    tests = pd.read_csv(checkout / "metrics/at-once/tables/tests.csv", keep_default_na=False)
    assert set(tests["n"]) == {4}
    assert "n = 4" in (checkout / "metrics/at-once/tables/table1.md").read_text()


def test_a_pair_is_compared_over_the_seeds_that_both_have(checkout, tmp_path):
    alone = piece(tmp_path / "alone", "argmax", "ln", [2, 3])
    done = record(checkout, "some", *pieces(tmp_path, [0, 1], tasks=("argmax",)), alone)
    assert (done.returncode, done.stderr) == (0, "")
    kept = checkout / "metrics/some"
    tests = pd.read_csv(kept / "tables/tests.csv", keep_default_na=False)
    assert set(tests["n"]) == {2}
    accuracy = pd.read_csv(kept / "accuracy.csv", keep_default_na=False)
    assert sorted(accuracy.query("norm == 'ln'")["seed"].unique()) == [0, 1, 2, 3]
    assert "2 to 4 seeds" in (kept / "plots/accuracy.svg").read_text()
    assert {path.name for path in (kept / "tables").glob("table*")} == {
        f"table{n}.{x}" for n in (1, 3) for x in ("csv", "md", "tex")
    }


def test_one_piece_is_a_record_without_a_test(checkout, tmp_path):
    done = record(checkout, "some", piece(tmp_path / "alone", "argmax", "ln", [2, 3]))
    assert (done.returncode, done.stderr) == (0, "")
    kept = checkout / "metrics/some"
    assert len((kept / "tables/tests.csv").read_text().splitlines()) == 1
    assert not list((kept / "tables").glob("table*"))
    judged = json.loads((kept / "claims.json").read_text())
    assert {of["verdict"] for key, of in judged.items() if "dictionary" in key} == {"not tested"}


def test_what_does_not_belong_is_refused_in_a_line_and_nothing_changes(checkout, tmp_path):
    first = pieces(tmp_path, [0, 1], tasks=("argmax",))
    assert record(checkout, "some", *first).returncode == 0
    before = holds(checkout / "metrics/some")
    wider = yaml.safe_load((ROOT / "tests/smoke.yaml").read_text())
    wider["model"]["width"] += 1
    other, again = (tmp_path / name for name in ("other", "again"))
    piece(other, "argmax", "ln", [2, 3], wider)
    piece(again, "argmax", "ln", [1, 2])
    refused = {
        other: f": model.width is {wider['model']['width']}; must be {PARAMS['model']['width']}",
        again: ": task argmax, range short, norm ln, seed 1 is in the record already, with other numbers",
        tmp_path: "/piece.json: cannot be read; python -m stages.pieces leaves pieces in runs/pieces",
    }
    for folder, said in refused.items():
        done = record(checkout, "some", str(folder))
        assert (done.returncode, done.stderr) == (2, f"error: {folder}{said}\n")
        assert holds(checkout / "metrics/some") == before


def test_pieces_that_are_there_already_are_left_out_with_a_line(checkout, tmp_path):
    first, new = pieces(tmp_path, [0, 1], tasks=("argmax",)), piece(tmp_path / "new", "argmax", "ln", [2, 3])
    assert record(checkout, "some", *first).returncode == 0
    done = record(checkout, "some", *first, new, new)
    assert (done.returncode, done.stderr.splitlines()) == (
        0,
        [f"{one}: in the record already" for one in [*first, new]],
    )
    assert len(pd.read_csv(checkout / "metrics/some/pieces.csv")) == 4


def changed(document, key, value):
    return document | {key: value}


REMEDY = "; copy the piece again, or delete it and run python -m stages.pieces"


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        (
            "piece",
            lambda of: changed(of, "norm", "std"),
            "/accuracy.csv: its norm is not that of piece.json, std" + REMEDY,
        ),
        ("piece", lambda of: changed(of, "norm", "nonsense"), "/piece.json: norm is 'nonsense'; must be one of "),
        (
            "piece",
            lambda of: changed(of, "task", "sort"),
            "/piece.json: task is 'sort'; must be one of argmax",
        ),
        ("piece", lambda of: changed(of, "seeds", []), "/piece.json: seeds is []: "),
        (
            "piece",
            lambda of: changed(of, "seeds", [2, 4]),
            "/piece.json: seeds is [2, 4]: Value error, consecutive seeds",
        ),
        ("piece", lambda of: changed(of, "minutes", -5.0), "/piece.json: minutes is -5.0: "),
        ("piece", lambda of: changed(of, "versions", {}), "/piece.json: versions.python is missing" + REMEDY),
        ("accuracy", lambda of: of[:-1], "/accuracy.csv: does not hold seeds 2 to 3 at every test length" + REMEDY),
        (
            "accuracy",
            lambda of: pd.concat([of, of[:1]]),
            "/accuracy.csv: does not hold seeds 2 to 3 at every test length",
        ),
        ("accuracy", lambda of: of.assign(seed=of["seed"] + 0.0), "/accuracy.csv: does not hold seeds 2 to 3 at every"),
        (
            "accuracy",
            lambda of: of.assign(temperature="hot"),
            "/accuracy.csv: temperature must be each of plain, adaptive, fitted" + REMEDY,
        ),
        (
            "accuracy",
            lambda of: of[of["temperature"] != "fitted"],
            "/accuracy.csv: temperature must be each of plain, adaptive, fitted" + REMEDY,
        ),
        (
            "piece",
            lambda of: changed(of, "parameters", changed(of["parameters"], "test.lengths", 5)),
            "/piece.json: test.lengths is 5; must be a list of whole numbers",
        ),
        (
            "accuracy",
            lambda of: of.assign(accuracy=98.5),
            "/accuracy.csv: accuracy must be a fraction, 0 to 1" + REMEDY,
        ),
        ("accuracy", lambda of: of.assign(accuracy=np.nan), "/accuracy.csv: accuracy has a number that is missing or"),
        ("mechanism", lambda of: of[1:], "/mechanism.csv: does not hold seeds 2 to 3 at every test length" + REMEDY),
        (
            "mechanism",
            lambda of: of.assign(target=np.inf),
            "/mechanism.csv: target has a number that is missing or imposs",
        ),
        (
            "mechanism",
            lambda of: of.assign(variance_after=0.0),
            "/mechanism.csv: variance_after has a number that is miss",
        ),
        (
            "mechanism",
            lambda of: of.assign(accuracy=0.5),
            "/mechanism.csv: its accuracies are not those of accuracy.csv",
        ),
        (
            "mechanism",
            lambda of: of.drop(columns="target"),
            "/mechanism.csv: cannot be read as CSV: it has no column tar",
        ),
    ],
)
def test_a_damaged_piece_is_refused_in_a_line(tmp_path, name, change, said):
    folder = tmp_path / "piece"
    piece(folder, "argmax", "ln", [2, 3])
    read_piece(folder)
    path = folder / {"piece": "piece.json"}.get(name, f"{name}.csv")
    if name == "piece":
        path.write_text(json.dumps(change(json.loads(path.read_text()))))
    else:
        write_csv(path, change(pd.read_csv(path)))
    with pytest.raises(InputError) as refused:
        read_piece(folder)
    assert str(refused.value).startswith(f"{folder}{said}")
    assert "\n" not in str(refused.value)


def test_a_column_that_is_not_the_records_is_left_out(tmp_path):
    folder = tmp_path / "piece"
    piece(folder, "argmax", "ln", [2, 3])
    for name in ("accuracy", "mechanism"):
        write_csv(folder / f"{name}.csv", pd.read_csv(folder / f"{name}.csv").assign(mine=1))
    _, accuracy, mechanism = read_piece(folder)
    assert [*accuracy] == [*CSV["accuracy"]]
    assert [*mechanism] == [*CSV["mechanism"]]


@pytest.mark.parametrize("name", ["accuracy.csv", "mechanism.csv", "pieces.csv", "params.yaml"])
def test_a_record_that_lacks_a_file_or_rows_is_not_continued(checkout, tmp_path, name):
    assert record(checkout, "some", *pieces(tmp_path, [0, 1], tasks=("argmax",))).returncode == 0
    path = checkout / "metrics/some" / name
    text, new = path.read_text(), piece(tmp_path / "new", "argmax", "ln", [2, 3])
    if name.endswith(".csv"):
        whole = text.splitlines(keepends=True)
        for rows in (whole[:3], [*whole, whole[-1]]):
            path.write_text("".join(rows))
            before = holds(checkout / "metrics/some")
            done = record(checkout, "some", new)
            assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
            assert done.stderr.endswith("; git checkout metrics/some\n")
            assert holds(checkout / "metrics/some") == before
    path.unlink()
    done = record(checkout, "some", new)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert done.stderr.startswith(f"error: metrics/some/{name}: cannot be read")


def test_a_record_survives_a_kill_at_any_rename(tmp_path):
    record, before = tmp_path / "some", tmp_path / ".some.before"
    for folder, text in ((record, "old"), (tmp_path / "new", "new")):
        folder.mkdir()
        (folder / "text").write_text(text)
    record.rename(before)  # killed here
    restore(record)
    assert (record / "text").read_text() == "old"
    assert not before.exists()
    shutil.copytree(record, before)  # or after the second rename
    restore(record)
    assert not before.exists()
    replace(record, tmp_path / "new")
    assert (record / "text").read_text() == "new"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["some"]


def test_a_record_that_a_kill_left_aside_is_continued(checkout, tmp_path):
    first = pieces(tmp_path, [0, 1], tasks=("argmax",))
    assert record(checkout, "some", *first).returncode == 0
    kept = holds(checkout / "metrics/some")
    (checkout / "metrics/some").rename(checkout / "metrics/.some.before")
    done = record(checkout, "some", first[0])
    assert (done.returncode, done.stderr) == (0, f"{first[0]}: in the record already\n")
    assert holds(checkout / "metrics/some") == kept


def test_pieces_are_of_the_parameters_that_their_stages_had():
    one, params = Run("dictionary", "long", "ln", 1), PARAMS
    used = {"model": params["model"], "tasks.dictionary.training": params["tasks"]["dictionary"]["training"]}
    lock = {"stages": {f"{kind}-long@{one}": {"params": {"params.yaml": used}} for kind in KINDS}}
    check_computed(one, lock, params)
    other = PARAMS | {"model": PARAMS["model"] | {"width": 99}}
    said = r"^params.yaml was edited while pieces were computed: train-long@\S+: model.width is 8; must be 99$"
    with pytest.raises(InputError, match=said):
        check_computed(one, lock, other)


def test_a_lock_that_was_put_back_while_pieces_were_computed_is_refused():
    said = r"^dvc.lock: train-long@dictionary-long-ln-1 is gone, put back while pieces were computed; run it again$"
    with pytest.raises(InputError, match=said):
        check_computed(Run("dictionary", "long", "ln", 1), {"stages": {}}, PARAMS)


def test_a_file_in_a_records_folder_that_is_no_part_of_it_is_not_deleted(checkout, tmp_path):
    assert record(checkout, "some", *pieces(tmp_path, [0, 1], tasks=("argmax",))).returncode == 0
    (checkout / "metrics/some/notes.md").write_text("mine")
    before = holds(checkout / "metrics/some")
    done = record(checkout, "some", piece(tmp_path / "new", "argmax", "ln", [2, 3]))
    said = "error: metrics/some/notes.md: is no part of a record, and would be lost; move it away\n"
    assert (done.returncode, done.stderr) == (2, said)
    assert holds(checkout / "metrics/some") == before
    assert [path.name for path in (checkout / "metrics").iterdir()] == ["some"]


def test_two_that_add_to_one_record_at_once_both_do(checkout, tmp_path):
    added = [piece(checkout / name, "argmax", norm, [0, 1]) for name, norm in (("one", "none"), ("two", "ln"))]
    command, here = [sys.executable, "-m", "stages.record", "some"], {**os.environ, "PYTHONPATH": str(checkout / "src")}
    both = [subprocess.Popen([*command, Path(folder).name], cwd=checkout, env=here) for folder in added]
    assert [one.wait() for one in both] == [0, 0]
    assert pd.read_csv(checkout / "metrics/some/pieces.csv", keep_default_na=False)["norm"].tolist() == ["ln", "none"]


def test_pieces_wait_for_others_that_are_computed_here_before_anything_is_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    command = [sys.executable, "-m", "stages.pieces"]
    here = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"}
    with exclusive_lock(str(PIECES)):
        second = subprocess.Popen(command, env=here, stderr=subprocess.PIPE, text=True)
        assert "another process does this here; waiting" in second.stderr.readline()
        assert second.poll() is None
    _, said = second.communicate(timeout=60)
    assert said.startswith("error: params.yaml: ")  # read once the lock was free: there is none here
    assert second.returncode == 2


def test_an_interrupt_leaves_a_command_to_end_in_its_own_way(tmp_path):
    """The command takes a second to end once it is interrupted, and then says that it has."""
    ending = "import pathlib, signal, time; signal.signal(signal.SIGINT, lambda *_: (time.sleep(1), "
    ending += "pathlib.Path('ended').touch(), exit(252))); pathlib.Path('began').touch(); time.sleep(300)"
    script = f"import sys; from stages.pieces import call; sys.exit(call([sys.executable, '-c', {ending!r}]))"
    here = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"}
    started = subprocess.Popen([sys.executable, "-c", script], cwd=tmp_path, env=here, start_new_session=True)
    wait_for((tmp_path / "began").exists)
    os.killpg(started.pid, signal.SIGINT)  # to both, as a terminal does
    assert started.wait(timeout=60) == 252
    assert (tmp_path / "ended").exists()


def test_an_interrupt_of_pieces_alone_ends_them_after_the_command(tmp_path):
    command = "import os, signal, time; time.sleep(1); os.kill(os.getppid(), signal.SIGINT); time.sleep(1)"
    script = f"import sys; from stages.pieces import call; sys.exit(call([sys.executable, '-c', {command!r}]))"
    here = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"}
    done = subprocess.run([sys.executable, "-c", script], cwd=tmp_path, env=here, check=False, timeout=60)
    assert done.returncode == 252


def test_a_record_keeps_its_parameters_whatever_those_of_the_checkout_are(checkout, tmp_path):
    assert record(checkout, "some", *pieces(tmp_path, [0, 1], tasks=("argmax",))).returncode == 0
    path = checkout / "params.yaml"
    path.write_text(path.read_text().replace("width: ", "width: 1"))
    done = record(checkout, "some", *pieces(tmp_path, [2, 3], tasks=("argmax",)))
    assert (done.returncode, done.stderr) == (0, "")


def test_what_is_recorded_or_lies_there_is_not_missing_and_must_have_the_same_parameters(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    group, recorded = [Run("argmax", "short", norm, 1) for norm in ("none", "ln")], Path("metrics/some")
    assert missing(group, 2, recorded, PARAMS) == group
    recorded.mkdir(parents=True)
    (recorded / "params.yaml").write_text(yaml.safe_dump(PARAMS))
    row = {"task": "argmax", "range": "short", "norm": "none", "seeds": [2, 3], "device": "x", "minutes": 1.0}
    write_csv(recorded / "pieces.csv", with_piece(pd.DataFrame(), row | MACHINE))
    assert missing(group, 2, recorded, PARAMS) == group[1:]
    with pytest.raises(InputError, match=r"blocks: argmax-short-none-0 has seeds 0 to 3, of which .* has 2; choose"):
        missing([Run("argmax", "short", "none", 0)], 4, recorded, PARAMS)
    piece(Path("runs/pieces/argmax-short-ln-2-3"), "argmax", "ln", [2, 3])
    assert missing(group, 2, recorded, PARAMS) == []
    wider = PARAMS | {"model": PARAMS["model"] | {"width": 99}}
    with pytest.raises(InputError, match=r"^params.yaml: model.width is 99; must be 8$"):
        missing(group, 2, recorded, wider)
    with pytest.raises(InputError, match=r"^runs/pieces/argmax-short-ln-2-3: model.width is 8; must be 99$"):
        missing(group[1:], 2, Path("metrics/other"), wider)


def test_a_record_of_nothing_is_refused(checkout):
    done = record(checkout, "some")
    assert (done.returncode, done.stderr) == (2, "error: metrics/some: is no record, and no piece of one is given\n")
    assert not (checkout / "metrics").exists()


@pytest.mark.parametrize("name", ["../out", "tables", "Paper", ""])
def test_a_name_that_is_no_folder_of_metrics_is_refused(checkout, name):
    done = record(checkout, name)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("name", [RECORD, *OTHER_RECORDS])
def test_a_record_of_the_repository_is_what_is_derived_from_its_pieces(tmp_path, name):
    kept = tmp_path / "metrics" / name
    shutil.copytree(ROOT / "metrics" / name, kept)
    before = holds(kept)
    for damaged in ("claims.json", "verdicts.json", "plots/accuracy.svg", "tables/tests.csv"):
        (kept / damaged).write_text("damaged")
    command = [sys.executable, "-m", "stages.record", name]
    here = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=here, check=False, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    after = holds(kept)
    assert after.keys() == before.keys()
    for derived in ("claims.json", "verdicts.json", "tables/table2.md", "tables/paper.json"):
        assert after[derived] == before[derived], derived
    assert not (tmp_path / "metrics/claims.json").exists()
    assert json.loads(after["verdicts.json"])
