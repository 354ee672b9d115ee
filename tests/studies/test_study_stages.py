"""The stages of a study: a line whose training diverged, from its training to the board, and what is measured."""

import os
import re
import runpy
import signal
import subprocess
import sys
from contextlib import suppress
from itertools import product
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
import yaml
from checkout import KEPT, edit_yaml
from processes import alive, wait_for
from scripts import ROOT, stage

import stages.test
import stages.train
from vanishing_variance.engine import registry
from vanishing_variance.harness.errors import DivergedError, InputError, TooLargeError
from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.frames import read_csv, write_csv
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.studies.arguments import Planned
from vanishing_variance.studies.choosing import basis_of_choice
from vanishing_variance.studies.files import PACKAGE, results_file, source_hash
from vanishing_variance.studies.make import REPRO, alone, empty_deleted, prepared, untrained, without_weights
from vanishing_variance.studies.new import filled
from vanishing_variance.studies.plan import _intervened
from vanishing_variance.studies.reading import ALL_FAILED, read_measured
from vanishing_variance.studies.study import Study, read_study
from vanishing_variance.studies.tuning import Tuned

STUDY = """question: Why?
tasks: [argmax]
sequences: 64
lines: {own: {norm: none}}
kept: {before: {}}
compare: [[own, before]]
"""
RUNS = ("argmax-own-0", "argmax-own-1")
OWN, OTHER = ((run, "--study", "mine") for run in RUNS)
MINE = Path("studies/mine")
SAID = "seed 1: the loss is nan at step 7"


def diverges(*_):
    raise DivergedError(SAID)


def results_of(_, this):
    kept = pd.read_csv(MINE / "results/kept.csv").query("seed == 0 and line == 'before'")
    return kept.drop(columns=["task", "line"]).assign(seed=this.block)


def trained_and_tested():
    """Run the stages of both blocks of the line `own`; return their results."""
    for own in (OWN, OTHER):
        assert [stage("train", *own), stage("test", *own)] == [(0, "")] * 2
    return pd.concat(read_csv(MINE / f"results/{run}.csv", "seed") for run in RUNS)


@pytest.fixture(autouse=True)
def _study(tmp_path, monkeypatch):
    """A planned study, in the working directory, with a line whose results are there."""
    monkeypatch.chdir(tmp_path)
    write_text(Path("params.yaml"), (ROOT / "tests/smoke.yaml").read_text().replace("blocks: [0]", "blocks: [0, 1]"))
    write_text(MINE / "results/kept.csv", KEPT)
    planned(STUDY)


def planned(study=None):
    """Plan the study that is there, or this one in its place; return the plans."""
    if study:
        write_text(MINE / "study.yaml", study)
    assert stage("plan", "mine") == (0, "")
    return read_yaml(MINE / "plan.yaml")


def compared():
    """Compare the lines; return the board."""
    assert stage("compare", "--study", "mine") == (0, "")
    return read_csv(MINE / "board.csv")


def test_a_plan_changes_with_its_own_line_and_with_no_parameter_that_the_line_overrides():
    before = planned(STUDY.replace("before: {}", "before: {norm: none}"))
    changes = {"norm": "rms", "tasks.argmax.steps.long": 7, "ranges.long.longest": 32, "interventions.sequences": 16}
    edit_yaml(Path("params.yaml"), changes)
    assert planned() == before
    after = planned(STUDY.replace("lines: {", "lines: {two: {norm: none, model.heads: 2}, "))
    assert list(after["runs"]) == [f"argmax-{run}" for run in ("two-0", "two-1", "own-0", "own-1")]
    for part in ("train", "test"):
        two = [after[part].pop(f"argmax-two-{block}") for block in (0, 1)]
        assert two[0] == two[1] != after[part]["argmax-own-0"]
        assert after[part] == before[part]
    edit_yaml(Path("params.yaml"), {"test.sequences": 48})
    of_fewer = planned(STUDY.replace("64", "48"))
    assert of_fewer["train"] == before["train"]
    assert of_fewer["test"]["argmax-own-0"] != before["test"]["argmax-own-0"]


def test_dvc_reads_of_a_study_what_is_checked_alone():
    """A mistake in any study.yaml would else end every command of DVC."""
    assert yaml.safe_load(filled("dvc.yaml", "mine"))["vars"] == ["plan.yaml:runs,intervened,proposed"]
    plan = planned()
    assert plan["runs"] == {run: {"task": "argmax"} for run in RUNS}
    write_text(MINE / "study.yaml", STUDY.replace("[argmax]", "argmax"))
    assert stage("studies.make", "mine")[0] == stage("plan", "mine")[0] == 2
    assert read_yaml(MINE / "plan.yaml") == plan


def test_more_blocks_of_a_line_change_no_plan_of_the_others():
    before = planned()
    after = planned(STUDY.replace("{norm: none}", "{norm: none, blocks: [0, 1, 5]}"))
    assert list(after["runs"]) == [*RUNS, "argmax-own-5"]
    for part in ("train", "test"):
        assert after[part].pop("argmax-own-5") == after[part]["argmax-own-0"]
    assert {**after, "runs": before["runs"]} == before


@pytest.mark.parametrize("name", ["norms/none.py", "../../gone.py"])
def test_a_source_that_is_edited_between_plan_and_stage_trains_nothing(monkeypatch, name):
    monkeypatch.setattr(stages.train, "train", diverges)
    plan = planned()
    plan["plans"]["argmax-own"]["train"]["files"][name] = "of its text then"
    write_text(MINE / "plan.yaml", yaml.safe_dump(plan))
    code, said = stage("train", *OWN)
    assert code == 2
    assert (
        f"{Path(name).name} was edited since {MINE}/plan.yaml was written; write it anew: python -m stages.plan mine"
        in said
    )


def test_a_source_that_is_edited_while_a_model_is_tested_leaves_no_results(monkeypatch):
    def edits(_, this):
        write_text(helper, "STEEPER = 2")
        return results_of(_, this)

    helper = Path("helper.py").absolute()
    write_text(helper, "STEEPER = 1")
    plan = planned()
    plan["plans"]["argmax-own"]["train"]["files"][os.path.relpath(helper, PACKAGE)] = source_hash(helper)
    write_text(MINE / "plan.yaml", yaml.safe_dump(plan))
    monkeypatch.setattr(stages.train, "train", lambda *_: None)
    monkeypatch.setattr(stages.test, "test", edits)
    assert stage("train", *OWN) == (0, "")
    assert stage("test", *OWN)[1].startswith("error: helper.py was edited since studies/mine/plan.yaml was written")
    assert not (MINE / f"results/{RUNS[0]}.csv").exists()


@pytest.mark.parametrize(("part", "names"), [("train", ["train", "test"]), ("test", ["test"])])
def test_a_plan_that_is_written_anew_while_a_stage_runs_fails_it(monkeypatch, part, names):
    def plans_anew(_, this):
        anew = read_yaml(MINE / "plan.yaml")
        anew[part][this.key] = "of other parameters"
        write_text(MINE / "plan.yaml", yaml.safe_dump(anew))
        return results_of(_, this)

    for name in ("train", "test"):
        planned()
        monkeypatch.setattr(getattr(stages, name), name, plans_anew)
        said = "error: studies/mine/plan.yaml was written anew while this ran; run the same command again\n"
        assert stage(name, *OWN) == ((2, said) if name in names else (0, ""))
    assert not (MINE / f"results/{RUNS[0]}.csv").exists()


def test_a_line_has_seeds_that_are_kept_and_others_that_are_trained(monkeypatch):
    monkeypatch.setattr(stages.train, "train", lambda *_: None)
    monkeypatch.setattr(stages.test, "test", results_of)
    both = STUDY.replace("kept: {before: {}}", "kept: {before: {}, own: {norm: none}}")
    planned(both.replace("lines: {own: {norm: none}}", "lines: {own: {norm: none, blocks: [7]}}"))
    run = ("argmax-own-7", "--study", "mine")
    assert [stage("train", *run), stage("test", *run)] == [(0, "")] * 2
    said = "error: studies/mine/study.yaml: kept has own, of which studies/mine/results/kept.csv has no seeds\n"
    assert stage("compare", "--study", "mine") == (2, said)
    write_text(MINE / "results/kept.csv", KEPT + KEPT.partition("\n")[2].replace("before,", "own,"))
    assert compared().query("line == 'own'")["n"].item() == 3
    write_text(MINE / "study.yaml", both)
    said = "error: studies/mine/results/kept.csv has seed 0 of line own, as its blocks have; change its blocks\n"
    assert stage("studies.make", "mine") == (2, said)


def test_results_at_other_lengths_are_not_compared(monkeypatch):
    write_text(MINE / "results/kept.csv", re.sub(r".*,64,.*\n", "", KEPT))
    said = "error: studies/mine: what is trained is tested at [4, 16, 64], and line before, seed 0 on argmax at [4, 16]"
    code, line = stage("studies.make", "mine")
    assert (code, line.startswith(said)) == (2, True)
    monkeypatch.setattr(stages.train, "train", lambda *_: None)
    monkeypatch.setattr(stages.test, "test", lambda _, this: results_of(0, this).query("length != 4 or seed == 0"))
    trained_and_tested()
    code, line = stage("compare", "--study", "mine")
    assert (code, "line own, seed 1 on argmax at [16]" in line) == (2, True)
    monkeypatch.setattr("vanishing_variance.studies.make.alone", lambda _: None)
    planned(STUDY + "lengths: [16, 64]\nbase: {ranges.short.longest: 16}\n")  # one up to 16, of training
    assert "and line before, seed 0 on argmax at [16]" in stage("studies.make", "mine")[1]
    planned(STUDY + "lengths: [4, 16]\n")
    monkeypatch.setattr(stages.test, "test", results_of)
    trained_and_tested()
    assert compared()["n"].tolist() == [2, 2]


HEAD, FIRST, SECOND, *_ = KEPT.splitlines()
MODEL = "error: studies/mine/results/kept.csv: line before on argmax, seed 0, length"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("0,4,0.75", "0,4,75", f"{MODEL} 4: last is 75.0; must be a number from 0 to 1"),
        ("0,16,0.5", "0,16,-0.5", f"{MODEL} 16: last is -0.5; must be a number from 0 to 1"),
        ("0,16,0.5", "0,16,nan", f"{MODEL} 16: last is 'nan'; must be a number from 0 to 1"),
        ("0,16,0.5", "0,16,", f"{MODEL} 16: last is empty; must be a number from 0 to 1"),
        ("0,16,0.5", "0,16.5,0.5", f"{MODEL} 16.5: length is 16.5; must be a whole number from 0"),
        ("before,0,4,", "before,0.5,4,", "seed 0.5, length 4: seed is 0.5; must be a whole number from 0"),
        ("before,0,4,", "before,,4,", "seed nan, length 4: seed is empty; must be a whole number from 0"),
        (FIRST, FIRST.replace("argmax", "argmx"), "kept.csv: task is 'argmx'; study.yaml has argmax"),
        (FIRST, FIRST.replace("before", "bfore"), "kept.csv: line is 'bfore'; study.yaml has own, before"),
        ("before", "own", "study.yaml: kept has before, of which studies/mine/results/kept.csv has no seeds"),
        (HEAD, HEAD.replace("seed", "length"), "kept.csv: cannot be read as CSV: it has two columns length; "),
        (HEAD, HEAD.replace("last", "lst"), "kept.csv: cannot be read as CSV: it has no column last; "),
        (
            "before,",
            "before,3",
            "own is compared with before, and has no seed of it on argmax: that has seeds from 30 to",
        ),
    ],
)
def test_what_is_wrong_in_kept_results_is_one_line_before_anything_is_trained(old, new, said):
    assert old in KEPT
    write_text(MINE / "results/kept.csv", KEPT.replace(old, new))
    (MINE / "plan.yaml").unlink()
    code, line = stage("studies.make", "mine")
    assert (code, said in line) == (2, True), line
    assert not (MINE / "plan.yaml").exists()
    planned()
    assert stage("compare", "--study", "mine")[0] == 2  # if it happens all the same


def test_results_that_the_papers_tables_are_not_of_are_refused_before_training():
    write_text(MINE / "study.yaml", STUDY.replace("{before: {}", "{before: {norm: ln}") + "paper_tables: true\n")
    code, line = stage("studies.make", "mine")
    assert (code, "kept.csv: cannot be read as CSV: it has no column target, largest, " in line) == (2, True)


@pytest.mark.parametrize("column", ["step_00000002", "loss_last"])
def test_an_accuracy_or_a_loss_is_there_at_all_lengths_of_a_model_or_at_none(column):
    lines = [f"{HEAD},{column}", *(f"{line}," for line in KEPT.splitlines()[1:])]
    write_text(MINE / "results/kept.csv", "\n".join(lines) + "\n")
    params = read_yaml(Path("params.yaml"))
    prepared("mine", read_study("mine"), params, Tuned())
    lines[1] += "0.5"
    write_text(MINE / "results/kept.csv", "\n".join(lines) + "\n")
    with pytest.raises(InputError, match=rf"seed 0, length 16: {column} is empty; must be a number from 0"):
        prepared("mine", read_study("mine"), params, Tuned())


def test_results_of_a_spreadsheet_and_of_a_line_named_as_a_number_are_read():
    kept = KEPT.replace("before", "010").replace("\n", "\r\n")
    (MINE / "results/kept.csv").write_bytes(b"\xef\xbb\xbf" + kept.encode())
    planned('{question: Why?, tasks: [argmax], sequences: 64, lines: {}, kept: {"010": {norm: none}}}')
    assert compared()["line"].tolist() == ["010"]


def test_a_block_that_another_has_copied_is_one_line(monkeypatch):
    monkeypatch.setattr(stages.train, "train", lambda *_: None)
    monkeypatch.setattr(stages.test, "test", lambda _, this: results_of(0, this).assign(seed=0))
    trained_and_tested()
    said = "error: studies/mine/results has seed 0 of line own on argmax twice at length 4; remove one\n"
    assert stage("compare", "--study", "mine") == (2, said)


def test_results_that_were_deleted_are_empty_for_dvc_which_passes_over_what_is_missing():
    results = [MINE / f"results/{run}.csv" for run in RUNS]
    own = MINE / "results/interventions-argmax-own-0.csv"
    write_text(MINE / "dvc.lock", "stages: {test@argmax-own-0: {}, interventions@argmax-own-0: {}, compare: {}}\n")
    plan = {"runs": RUNS, "intervened": RUNS, "proposed": RUNS}
    empty_deleted("mine", plan)
    assert [path.exists() for path in results] == [True, False]  # the other was never tested
    assert results[0].read_text() == own.read_text() == (MINE / "board.md").read_text() == ""
    write_text(results[0], KEPT)
    empty_deleted("mine", plan)
    assert results[0].read_text() == KEPT


def test_the_board_has_words_for_the_interval_of_two_seeds():
    kept = KEPT + KEPT.partition("\n")[2].replace("before", "own").replace("0.75", "0.5")
    write_text(MINE / "results/kept.csv", kept)
    planned(STUDY.replace("lines: {own: {norm: none}}\n", "lines: {}\n").replace("{before: {}", "{before: {}, own: {}"))
    board = compared().set_index("line")
    assert board.loc["before", ["beyond_low", "beyond_high"]].notna().all()
    text = (MINE / "board.md").read_text()
    assert re.search(r"\| before +\| last +\| +2 \| 37.5 \[too few seeds\] \|", text)
    assert re.search(r"\| own +\| before +\| last +\| +2 \| \+0.0 \[too few seeds\] \|", text)


def test_a_seed_that_is_kept_twice_is_one_line():
    write_text(MINE / "results/kept.csv", KEPT + KEPT.partition("\n")[2].partition("\n")[0] + "\n")
    said = "error: studies/mine/results/kept.csv has seed 0 of line before on argmax twice at length 4; remove one\n"
    assert stage("studies.make", "mine") == (2, said)


@pytest.mark.parametrize("lines", ["{}", "{two: {norm: ln}}"])
def test_dvc_makes_a_study_with_a_line_to_train_and_one_of_kept_lines_alone_has_no_graph(lines, monkeypatch):
    ran = []
    monkeypatch.setattr("vanishing_variance.studies.make.ran", lambda *command: ran.append([*command]) or 0)
    kept = STUDY.replace("{own: {norm: none}}", lines).replace("{before: {}", "{before: {}, own: {norm: none}")
    write_text(MINE / "study.yaml", kept)
    write_text(MINE / "results/kept.csv", KEPT + KEPT.partition("\n")[2].replace("before,", "own,"))
    assert stage("studies.make", "mine") == (0, "")
    if lines == "{}":
        assert ran == [["stages.compare", "--study", "mine"]]
        assert not (MINE / "dvc.yaml").exists()
    else:
        assert ran == [["dvc", *REPRO, "studies/mine/dvc.yaml"]]
        assert (MINE / "dvc.yaml").read_text() == filled("dvc.yaml", "mine")


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, -signal.SIGINT)])
def test_what_ends_make_study_ends_what_it_runs(tmp_path, number, code):
    """And the next training does not begin, as it would where DVC went on."""
    slow = """import os, pathlib, time
pathlib.Path("pid").write_text(f"{os.getpid()}\\n")
time.sleep(600)"""
    write_text(tmp_path / "slow.py", slow)
    making = subprocess.Popen([sys.executable, "-c", "from vanishing_variance.studies.make import ran; ran('slow')"])
    pid = tmp_path / "pid"
    wait_for(lambda: pid.exists() and pid.read_text().endswith("\n"))
    making.send_signal(number)
    assert making.wait(180) == code
    wait_for(lambda: not alive(int(pid.read_text())))


def test_a_study_is_made_by_one_process_at_a_time():
    alone("mine")
    with pytest.raises(InputError, match="study mine is being made by another process"):
        alone("mine")


def test_lines_of_both_ranges_are_compared_beyond_their_own():
    rows = [
        f"argmax,{line},{seed},{length},{1 - length / 1600 - seed / 1000}\n"
        for line in ("short", "long", "other")
        for seed in (0, 1)
        for length in (4, 16, 64)
    ]
    write_text(MINE / "results/kept.csv", KEPT.partition("\n")[0] + "\n" + "".join(rows))
    kept = "kept: {short: {}, long: {range: long}, other: {range: long}}\n"
    planned(f"question: Why?\ntasks: [argmax]\nsequences: 64\nlines: {{}}\n{kept}")
    board = compared().set_index("line")
    assert board["beyond"].round(2).to_dict() == {"short": 97.45, "long": 95.95, "other": 95.95}
    assert board["baseline"].dropna().to_dict() == {"other": "long"}
    assert (
        "over lengths above 4 for the short range, above 16 for the long range: compare"
        in (MINE / "board.md").read_text()
    )


def test_a_line_that_no_longer_diverges_is_tested(monkeypatch):
    monkeypatch.setattr(stages.train, "train", diverges)
    trained_and_tested()
    monkeypatch.setattr(stages.train, "train", lambda *_: None)
    monkeypatch.setattr(stages.test, "test", results_of)
    own = trained_and_tested()
    assert "note" not in own
    assert set(own["seed"]) == {0, 1}


def test_results_of_runs_that_a_study_has_no_more_change_nothing(monkeypatch):
    monkeypatch.setattr(stages.train, "train", lambda *_: None)
    monkeypatch.setattr(stages.test, "test", results_of)
    trained_and_tested()
    board = compared()
    for left in ("argmax-own-7.csv", "argmax-gone-0.csv", "interventions-argmax-own-7.csv"):
        write_text(MINE / "results" / left, "of another study\n")
    pd.testing.assert_frame_equal(compared(), board)


def test_a_study_of_fewer_lengths_tests_and_compares_those(monkeypatch):
    planned(STUDY + "lengths: [4, 64]\n")
    given = []
    monkeypatch.setattr(stages.test, "test", lambda params, this: given.append(params["test"]) or results_of(0, this))
    for own in (OWN, OTHER):
        assert stage("test", *own) == (0, "")
    assert given[0]["lengths"] == [4, 64]
    assert compared()["beyond"].tolist()[-1] == 37.5
    write_text(MINE / "results/kept.csv", re.sub(r".*,64,.*\n", "", KEPT))
    code, said = stage("compare", "--study", "mine")
    assert (code, "line before, seed 1 on argmax is tested at [4]" in said) == (2, True)


@pytest.mark.trains
def test_every_head_of_the_papers_network_is_measured_where_it_has_several(monkeypatch):
    monkeypatch.setattr("vanishing_variance.measure.tested.IN_HEADS", 8)
    planned(STUDY.replace("{norm: none}", "{norm: none, model.heads: 2, blocks: [0], tasks.argmax.steps.short: 2}"))
    assert [stage("train", *OWN)[0], stage("test", *OWN)[0]] == [0, 0]
    found = read_csv(MINE / "results/argmax-own-0.csv", "seed")
    assert {"target", "target_0_0", "target_0_1"} < set(found)
    assert found.filter(like="target").stack().between(0, 1).all()


@pytest.mark.trains
def test_interventions_and_proposition_1_are_measured_where_a_study_asks_for_them():
    (MINE / "results/kept.csv").unlink()
    lines = "lines: {none: {norm: none}, ln: {norm: ln}}\nbase: {blocks: [0], tasks.argmax.steps.short: 2}\n"
    asked = "measure: [inside, interventions, proposition]\n"
    plan = planned("question: Why?\ntasks: [argmax]\n" + lines + asked)
    assert plan["intervened"] == {
        "argmax-none-0": {"task": "argmax", "partner": "argmax-ln-0"},
        "argmax-ln-0": {"task": "argmax", "partner": "argmax-none-0"},
    }
    runs = ["argmax-none-0", "argmax-ln-0"]
    assert set(plan["proposed"]) == set(runs)
    for name in ("train", "test", "interventions", "proposition"):
        assert [stage(name, run, "--study", "mine")[0] for run in runs] == [0, 0], name
    graph = yaml.safe_load(filled("dvc.yaml", "mine"))["stages"]
    for kind, run in product(("interventions", "proposition"), runs):
        ((out, _),) = graph[kind]["do"]["outs"][0].items()
        assert Path(out.replace("${key}", run)).exists()
    assert {"largest16", "variance_after"} < set(read_csv(MINE / "results/argmax-ln-0.csv"))
    assert stage("compare", "--study", "mine") == (0, "")
    assert {"recovered", "damage"} < set(read_csv(MINE / "interventions.csv")["kind"])
    assert set(read_csv(MINE / "proposition.csv")["line"]) == {"none", "ln"}


def test_interventions_and_proposition_1_are_of_maps_that_are_a_softmax_with_as_many_heads():
    (MINE / "results/kept.csv").unlink()
    asked = "question: Why?\ntasks: [argmax]\nmeasure: [interventions, proposition]\n"
    plan = planned(f"{asked}lines: {{none: {{norm: none}}, own: {{norm: ln, attention: sparsemax}}}}\n")
    assert (set(plan["intervened"]), set(plan["proposed"])) == (set(), {"argmax-none-0"})
    write_text(MINE / "study.yaml", f"{asked}lines: {{none: {{norm: none}}, own: {{norm: ln, model.heads: 2}}}}\n")
    code, said = stage("plan", "mine")
    assert code == 2
    assert "model.heads 1, and own, with which it is paired, 2; interventions need the same" in said


def test_a_run_that_lines_share_has_one_partner_in_interventions():
    plans = {}
    for line in ("none", "ln", "std"):
        train = {"seeds_per_block": 8, "model": {"heads": 1}}
        plans[f"argmax-{line}"] = {"line": line, "train": train, "interventions": {}}
    runs = {("argmax", line, 0): f"argmax-{line}-0" for line in ("none", "ln", "std")}
    runs["argmax", "again", 0] = "argmax-none-0"
    lines = {line: {} for line in ("none", "again", "ln", "std")}
    of_one = Study(question="Why?", tasks=["argmax"], lines=lines, compare=[["ln", "none"], ["ln", "again"]])
    both = {"task": "argmax", "partner": "argmax-none-0"}
    assert dict(_intervened(of_one, runs, plans))["argmax-ln-0"] == both
    of_two = of_one.model_copy(update={"compare": [["ln", "none"], ["std", "again"]]})
    with pytest.raises(InputError, match="line again shares run argmax-none-0 with another line"):
        dict(_intervened(of_two, runs, plans))


@pytest.mark.trains
def test_of_a_line_that_diverged_nothing_is_measured_inside(monkeypatch):
    (MINE / "results/kept.csv").unlink()
    lines = "lines: {none: {norm: none}, ln: {norm: ln}, std: {norm: std}}\n"
    base = "base: {tasks.argmax.steps.short: 2}\nmeasure: [inside, interventions, proposition]\n"
    plan = planned("question: Why?\ntasks: [argmax]\n" + lines + base)
    train = stages.train.train
    fails = "argmax-std-1"
    monkeypatch.setattr(
        stages.train, "train", lambda plan, this: diverges() if this.key == fails else train(plan, this)
    )
    runs = {"train": "runs", "test": "runs", "interventions": "intervened", "proposition": "proposed"}
    for name, part in runs.items():
        assert {stage(name, run, "--study", "mine")[0] for run in plan[part]} == {0}, name
    assert compared().query("line == 'std'")["note"].tolist() == [SAID]
    assert fails in plan["intervened"]
    for name in ("interventions", "proposition"):
        assert set(read_csv(MINE / f"{name}.csv")["line"]) == {"none", "ln"}
    assert read_measured("interventions", Planned("mine", plan).intervened)["accuracy"].dtype == float


def test_a_study_of_kept_lines_alone_is_of_what_its_results_were_made_of(monkeypatch):
    monkeypatch.setattr("vanishing_variance.studies.make.alone", lambda _: None)
    kept = "question: Why?\ntasks: [argmax]\nlines: {}\nkept: {before: {}}\nsequences: 64\n"
    tested = planned(STUDY.replace("kept: {before: {}}", "kept: {before: {}, own: {norm: none}}"))
    made = tested["plans"]["argmax-own"]["test"]["made_of"] | tested["compare"]["kept"]["argmax"]["before"]
    write_text(MINE / "results/kept.csv", KEPT)
    write_csv(MINE / "results/kept.csv", read_csv(MINE / "results/kept.csv").assign(**made))
    planned(kept)
    assert compared()["n"].item() == 2
    for key, value, back in (("ranges.short.longest", 8, 4), ("tasks.argmax.data.classes", 4, 3)):
        edit_yaml(Path("params.yaml"), {key: value})
        for command in (("compare", "--study", "mine"), ("studies.make", "mine")):
            code, said = stage(*command)
            assert (code, "line before on argmax has" in said) == (2, True), said
        edit_yaml(Path("params.yaml"), {key: back})
    write_text(MINE / "study.yaml", kept.replace("64", "128"))
    code, said = stage("studies.make", "mine")
    assert (code, "line before on argmax has sequences 64, now 128; put back" in said) == (2, True), said


@pytest.mark.parametrize("name", ["p", "difference", "log_odds", "target", "accuracy"])
def test_a_statistic_that_a_board_has_may_be_asked_for(name):
    own = KEPT.partition("\n")[2].replace("before", "own").replace("0.75", "0.5")
    write_text(MINE / "results/kept.csv", KEPT + own)
    kept = "question: Why?\ntasks: [argmax]\nlines: {}\nkept: {before: {}, own: {norm: none}}\nsequences: 64\n"
    planned(kept)
    usual = compared()
    planned(f"{kept}statistics: [{name}]\n")
    asked = compared()
    pd.testing.assert_frame_equal(asked[list(usual)], usual)
    assert name in asked


def test_a_study_of_kept_lines_alone_is_of_as_many_sequences_as_it_says():
    kept = "question: Why?\ntasks: [argmax]\nlines: {}\nkept: {before: {}, all: {}}\nsequences: 64\n"
    perfect = re.sub(r"0\.\d+", "1.0", KEPT.partition("\n")[2]).replace("before", "all")
    write_text(MINE / "results/kept.csv", KEPT + perfect)
    compare = planned(kept)["compare"]
    assert (compare["longest"], compare["sequences"]) == ({"short": 4}, 64)
    gain = compared().query("line == 'all'")["log_odds"].item()
    assert gain == pytest.approx(np.log(64.5 / 0.5) - np.log(48.5 / 16.5) / 2, abs=1e-6)


def test_results_that_were_made_of_other_things_are_refused_before_anything_is_trained(monkeypatch):
    """Of another root seed, as many sequences, data of the task or, of a line, parameters than it has now."""
    monkeypatch.setattr("vanishing_variance.studies.make.ran", lambda *_: None)
    monkeypatch.setattr("vanishing_variance.studies.make.alone", lambda _: None)
    plan = planned(STUDY.replace("kept: {before: {}}", "kept: {before: {}, own: {norm: none}}"))
    made = plan["plans"]["argmax-own"]["test"]["made_of"]
    assert (made["root_seed"], made["sequences"]) == (0, 64)
    edit_yaml(Path("params.yaml"), {"blocks": [7]})
    head, *rows = (KEPT + KEPT.partition("\n")[2].replace("before", "own")).splitlines()
    for column, line in product(made, ("before", "own")):
        texts = [f"{head},{','.join(made)}"]
        for row in rows:
            values = made | ({column: 1} if row.split(",")[1] == line else {})
            texts.append(",".join([row, *map(str, values.values())]))
        write_text(MINE / "results/kept.csv", "\n".join(texts) + "\n")
        code, said = stage("studies.make", "mine")
        if (column, line) == ("trained_with", "before"):  # of which no seed is trained
            assert said.startswith("error: studies/mine/results/kept.csv: line before on argmax has trained_with '")
            assert stage("compare", "--study", "mine")[0] == code == 2
        else:
            assert (code, f"{column} on argmax differs" in said) == (2, True), said


MEAN = """{question: Why?, tasks: [mean], lines: {none: {norm: none}, ln: {norm: ln}}, base: {
    tasks.mean.data.bins: 4, tasks.mean.steps.short: 3, blocks: [0]}}"""


@pytest.mark.trains
def test_a_task_of_a_file_that_params_yaml_does_not_name_is_made_into_a_board(monkeypatch):
    module = ModuleType("vanishing_variance.tasks.mean")
    exec((ROOT / "tests/own_tasks.py").read_text().partition("class Drawn")[0], vars(module))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr("vanishing_variance.studies.plan.hashes", lambda _: {"tasks/mean.py": ""})
    names = registry.names
    monkeypatch.setattr(registry, "names", lambda folder: ["mean"] * (folder == "tasks") + names(folder))
    (MINE / "results/kept.csv").unlink()
    plan = planned(MEAN)
    section = {"data": {"bins": 4}, "steps": {"short": 3}, "training": {}}
    assert plan["plans"]["mean-ln"]["train"]["tasks"] == {"mean": section}
    for run in ("mean-none-0", "mean-ln-0"):
        own = (run, "--study", "mine")
        assert [stage("train", *own)[0], stage("test", *own)[0]] == [0, 0]
    found = read_csv(MINE / "results/mean-ln-0.csv", "seed")
    assert found["last"].between(0, 1).all()
    assert found["target"].isna().all()
    assert stage("compare", "--study", "mine")[0] == 0
    assert "mean" in (MINE / "board.md").read_text()


BLOCKS = """{question: Why?, tasks: [argmax], base: {norm: none, blocks: [0], tasks.argmax.steps.short: 3},
    lines: {paper: {}, block: &block {network: transformer, network_options: {layers: 2, heads: 2, width: 16}},
            power: {<<: *block, attention: power}, sparse: {<<: *block, attention: sparsemax}}}"""


@pytest.mark.trains
def test_a_line_of_another_network_has_the_columns_of_the_papers_in_results_and_on_the_board():
    (MINE / "results/kept.csv").unlink()
    planned(BLOCKS)
    columns = {}
    for line in ("paper", "block", "power", "sparse"):
        own = (f"argmax-{line}-0", "--study", "mine")
        assert [stage("train", *own)[0], stage("test", *own)[0]] == [0, 0]
        columns[line] = {*read_csv(MINE / f"results/argmax-{line}-0.csv", "seed")}
    assert columns["paper"] >= {"last", "adaptive", "hard", "target", "variance"}
    heads = {f"target_{layer}_{head}" for layer in range(2) for head in range(2)}
    assert columns["block"] == columns["power"] == columns["paper"] | heads
    assert columns["sparse"] == columns["block"] - {"adaptive"}
    board = compared()
    assert set(board.query("line == 'block'")["rule"]) == set(board.query("line == 'paper'")["rule"])


def test_a_line_of_which_one_block_diverged_has_its_note_and_is_no_baseline(monkeypatch):
    monkeypatch.setattr(stages.train, "train", lambda plan, this: diverges() if this.block else None)
    monkeypatch.setattr(stages.test, "test", results_of)
    trained_and_tested()
    assert compared().query("line == 'own'")["note"].tolist() == [SAID]
    planned(STUDY.replace("[[own, before]]", "[[before, own]]"))
    assert compared().query("line == 'before'")["n_paired"].tolist() == [0]
    assert re.search(r"\| before +\| own +\| last +\| +0 \|", (MINE / "board.md").read_text())


def test_what_is_wrong_in_params_is_one_line_of_a_study_of_kept_lines_alone_too():
    kept = "question: Why?\ntasks: [argmax]\nlines: {}\nkept: {before: {}}\nsequences: 64\n"
    write_text(MINE / "study.yaml", kept + "tune: {training.learning_rate: [1.0, 2.0]}\nchoose: {blocks: [0]}\n")
    (MINE / "dvc.yaml").unlink(missing_ok=True)
    edit_yaml(Path("params.yaml"), {"seeds_per_block": "eight"})
    code, said = stage("compare", "--study", "mine")
    assert (code, said.count("\n")) == (2, 1)
    assert said.startswith("error: params.yaml: seeds_per_block is 'eight'")


def test_what_a_study_asks_for_no_more_does_not_stay_beside_its_board():
    asked_for = ("settings.csv", "parts.md", "parts.png", "interventions.csv", "claims.json", "tables/gains.md")
    for name in (*asked_for, "plan.md"):
        write_text(MINE / name, "of before")
    write_text(MINE / "results/kept.csv", KEPT + KEPT.partition("\n")[2].replace("before", "own"))
    kept = STUDY.replace("lines: {own: {norm: none}}\n", "lines: {}\n").replace("{before: {}", "{before: {}, own: {}")

    def left():
        compared()
        of_study = {"plan.yaml", "study.yaml", "results/kept.csv", "board.csv", "board.md"}
        return {str(path.relative_to(MINE)) for path in MINE.rglob("*.*")} - of_study

    planned(f"{kept}measure: [interventions]\n")
    assert left() == {"interventions.csv", "plan.md"}
    planned(kept)
    assert left() == {"plan.md"}


def test_seeds_that_choose_are_checked_before_they_are_trained():
    write_text(MINE / "study.yaml", TUNED.replace("blocks: [5]", f"blocks: [{2**30}]"))
    code, said = stage("studies.make", "mine")
    assert (code, "blocks has 1073741824; its 2 seeds must be below 2147483648" in said) == (2, True)


def test_a_study_whose_lines_all_diverged_has_a_board():
    planned("question: Why?\ntasks: [argmax]\nlines: {own: {norm: none, blocks: [0]}}\n")
    (MINE / "results/kept.csv").unlink()
    write_text(MINE / "results/argmax-own-0.csv", f"seed,note\n0,{SAID}\n")
    assert compared()["note"].tolist() == [SAID]


def test_a_length_that_memory_does_not_hold_is_a_note_too(monkeypatch):
    def fails(*_):
        raise TooLargeError(SAID)

    monkeypatch.setattr(stages.test, "test", fails)
    assert stage("test", *OWN) == (0, "")
    assert read_csv(MINE / "results/argmax-own-0.csv", "note")["note"].tolist() == [SAID]


TUNED = """question: Why?
tasks: [argmax]
base: {blocks: [0, 1]}
tune: {training.learning_rate: [0.001, 0.002]}
choose: {blocks: [5], grow: 2, refine: 1}
lines: {none: {norm: none}, ln: {norm: ln}, fixed: {norm: ln, training.learning_rate: 0.001}}
"""
# The best rates of the lines: the first is beyond the grid, the second between two of its values.
OPTIMA = {"none": 0.004, "ln": 0.0014}


def of_setting(params, this):
    """Return made-up results of a run: the further its rate is from the best one of its line, the more loss."""
    rate, norm = params["training"]["learning_rate"], params["norm"]
    loss = 0.01 * np.exp(np.log2(rate / OPTIMA[norm]) ** 2)
    seeds = [2 * this.block, 2 * this.block + 1]
    models = product(seeds, params["test"]["lengths"])
    found = [{"seed": seed, "length": length, "last": max(0.7, 1 - loss * length / 100)} for seed, length in models]
    return pd.DataFrame(found).assign(loss_last=loss, target=0.5, variance=1.0)


@pytest.fixture
def made(monkeypatch):
    """Return a function that makes TUNED, until some more runs were tested, and returns all that were."""
    (MINE / "results/kept.csv").unlink()
    write_text(MINE / "study.yaml", TUNED)
    tested, room = [], [0]

    def repro(*command):
        if command[-1] == "studies/mine/dvc.yaml":
            return stage("compare", "--study", "mine")[0]
        plan, lock = read_yaml(MINE / "plan.yaml"), MINE / "dvc.lock"
        locked = read_yaml(lock)["stages"] if lock.exists() else {}
        for run in plan["runs"]:
            path = MINE / f"results/{run}.csv"
            lengths = plan["plans"][run.rpartition("-")[0]]["test"]["test"]["lengths"]
            of_run = {"params": {"studies/mine/plan.yaml": {f"train.{run}": plan["train"][run]}}}
            is_of_now = path.exists() and path.stat().st_size and locked.get(f"test@{run}") == of_run
            if not is_of_now or set(read_csv(path)["length"]) != set(lengths):
                if not room[0]:
                    raise KeyboardInterrupt
                assert stage("test", run, "--study", "mine") == (0, "")
                tested.append(run)
                locked[f"train@{run}"] = locked[f"test@{run}"] = of_run
                write_text(lock, yaml.safe_dump({"stages": locked}))
                room[0] -= 1
        return 0

    def make(most=1000):
        room[0] = most
        with suppress(KeyboardInterrupt):
            assert stage("studies.make", "mine") == (0, "")
        return tested

    monkeypatch.setattr(stages.test, "test", of_setting)
    monkeypatch.setattr("vanishing_variance.studies.make.ran", repro)
    monkeypatch.setattr("vanishing_variance.studies.make.alone", lambda _: None)
    return make


def of_tuned_study():
    """Return the files in git of a study that was made."""
    return {name: (MINE / name).read_text() for name in ("choice.yaml", "board.csv", "board.md", "settings.csv")}


def test_a_study_that_tunes_is_made_in_rounds_and_goes_on_where_it_was_stopped(made):
    tested = list(made())
    choice = read_yaml(MINE / "choice.yaml")["argmax"]
    chosen = {line: [one["name"] for one in tried if one.get("chosen")] for line, tried in choice.items()}
    assert chosen == {"none": ["none-0_004"], "ln": ["ln-0_00141"]}
    of_blocks = [run for run in tested if not run.endswith("-5")]
    assert sorted(set(of_blocks)) == [
        f"argmax-{run}-{block}" for run in ("fixed", "ln-0_00141", "none-0_004") for block in (0, 1)
    ]
    board = read_csv(MINE / "board.csv").set_index("line")
    assert board["setting"].dropna().to_dict() == {"none": "learning_rate 0.004", "ln": "learning_rate 0.00141"}
    assert board["n"].tolist() == [4, 4, 4]
    assert board["failed"].tolist() == [0, 0, 0]
    whole = of_tuned_study()
    before = len(tested)
    assert len(made()) == before  # nothing is left to do
    for left in [*MINE.glob("results/*.csv"), *(MINE / name for name in whole)]:
        left.unlink()
    made(3)
    made(5)
    assert len(made()) == 2 * before
    assert of_tuned_study() == whole


def test_results_of_other_parameters_choose_nothing(made):
    before = len(made())
    write_text(MINE / "study.yaml", TUNED.replace("{blocks: [0, 1]}", "{blocks: [0, 1], training.decay: cosine}"))
    grid = [f"argmax-{line}-{rate}-5" for line in ("none", "ln") for rate in ("0_001", "0_002")]
    anew = [run for run in made()[before:] if "fixed" not in run]
    assert anew[:4] == grid
    choosing = [run.endswith("-5") for run in dict.fromkeys(anew)]  # once: some are tested at length, later
    assert choosing == sorted(choosing, reverse=True)  # before the seeds of what is chosen, those of all settings


def test_what_is_to_be_tested_at_more_lengths_and_has_no_weights_here_is_trained_again(made):
    made()
    planned = Planned("mine", read_yaml(MINE / "plan.yaml"))
    assert without_weights(planned) == []
    run = planned.run("argmax-ln-0_001-5")
    path = results_file(run)
    results = read_csv(path)
    write_csv(path, results[results["length"] <= 16])
    assert without_weights(planned) == [run]
    run.folder("trained").mkdir(parents=True)
    assert without_weights(planned) == []


def test_results_that_say_otherwise_than_the_choice_are_not_compared(made):
    made()
    path = MINE / "results/argmax-ln-0_001-5.csv"
    write_csv(path, read_csv(path).assign(loss_last=1e-6))
    code, said = stage("compare", "--study", "mine")
    expected = "error: studies/mine/choice.yaml: is not what results say now; go on by make study NAME=mine\n"
    assert (code, said) == (2, expected)


def test_a_choice_of_other_lines_or_that_was_edited_is_one_line(made):
    made()
    for study in (TUNED.replace("[argmax]", "[argmax, dictionary]"), TUNED.replace("lines: {", "lines: {own: {}, ")):
        write_text(MINE / "study.yaml", study)
        code, said = stage("plan", "mine")
        assert (code, "choice.yaml: is not of the tasks and lines of study.yaml now; go on by make" in said) == (
            2,
            True,
        )
    for tried in ("[{name: a, setting: [1]}]", "[{name: a}]", "[a]", "", "[{name: a, setting: {}, more: 1}]"):
        write_text(MINE / "choice.yaml", f"argmax: {{none: {tried}, ln: []}}\n")
        code, said = stage("plan", "mine")
        assert (code, "choice.yaml: is not as make study wrote it; delete it" in said) == (2, True), tried


def test_results_that_are_not_whole_choose_nothing(made):
    made()
    path = MINE / "results/argmax-ln-0_001-5.csv"
    whole = read_csv(path)
    for edited in (whole[:0], whole[whole["seed"] == 10], whole.assign(seed=whole["seed"] + 100)):
        write_csv(path, edited)
        code, said = stage("compare", "--study", "mine")
        assert (code, "choice.yaml: is not what results say now" in said) == (2, True)
    for column in ("seed", "loss_last", "last"):
        write_csv(path, whole.assign(**{column: "a"}))
        code, said = stage("studies.make", "mine")
        assert (code, f"{path}: line ln-0_001" in said, f"{column} is 'a'; must be" in said) == (2, True, True)


def test_a_test_beyond_the_memory_does_not_choose(made):
    made()
    path = MINE / "results/argmax-ln-0_00141-5.csv"
    write_csv(
        path, pd.DataFrame({"note": ["fails: one sequence of 64 items needs more memory than there is; lower it"]})
    )
    code, said = stage("studies.make", "mine")
    assert (code, "results: ln-0_00141: fails: one sequence of 64 items needs more memory" in said) == (2, True)


def test_a_seed_that_chooses_is_not_compared(made):
    write_text(MINE / "study.yaml", TUNED.replace("blocks: [5]", "blocks: [1]"))
    code, said = stage("studies.make", "mine")
    assert (code, "line none has block 1, which is in choose.blocks, too; change one of them" in said) == (2, True)
    assert not (MINE / "choice.yaml").exists()


@pytest.mark.parametrize("key", ["blocks", "seeds_per_block"])
def test_seeds_that_are_none_are_one_line(made, key):
    write_text(MINE / "study.yaml", TUNED.replace("blocks: [0, 1]", f"{key}: a"))
    for name in ("studies.make", "plan"):
        code, said = stage(name, "mine")
        assert (code, said.startswith(f"error: studies/mine/study.yaml: line none: {key} is 'a'; must be")) == (2, True)


def test_a_grid_grows_and_is_halved_by_values_that_its_key_may_have():
    tune = "tune: {training.averaged_part: [0.2, 0.4], model.heads: [1, 2, 4], norm: [none, ln]}"
    of_own = "question: Why?\ntasks: [argmax]\nlines: {own: {}}\nchoose: {blocks: [5], grow: 2, refine: 1}\n"
    write_text(MINE / "study.yaml", of_own + tune)
    basis = basis_of_choice(read_study("mine"), read_yaml(Path("params.yaml")))
    assert basis.beyond == {"training.averaged_part": [0.1, 0.05, 0.8], "model.heads": [8]}
    assert basis.between == {"training.averaged_part": [0.0707, 0.141, 0.283, 0.566], "model.heads": []}


@pytest.mark.parametrize(("heads", "beyond"), [([8, 16], [4, 32]), ([8, 32], [2])])
def test_a_grid_does_not_grow_by_an_option_that_its_network_refuses(heads, beyond):
    own = "{network: transformer, network_options.width: 32, network_options.layers: 1}"
    text = f"question: Why?\ntasks: [argmax]\nlines: {{own: {own}}}\nchoose: {{blocks: [5], grow: 1}}\n"
    write_text(MINE / "study.yaml", f"{text}tune: {{network_options.heads: {heads}}}\n")
    found = basis_of_choice(read_study("mine"), read_yaml(Path("params.yaml")))
    assert found.beyond == {"network_options.heads": beyond}


def test_the_estimate_is_of_what_trains_and_of_nothing_else(made):
    made()
    planned = Planned("mine", read_yaml(MINE / "plan.yaml"))
    keys = [run.key for run in planned.runs]
    locked = {}
    for key in keys:
        of_plan = {f"train.{key}": planned.document["train"][key]}
        locked[f"train@{key}"] = {"params": {"studies/mine/plan.yaml": of_plan}}
    write_text(MINE / "dvc.lock", yaml.safe_dump({"stages": locked}))
    assert untrained(planned) == []
    results_file(planned.runs[0]).unlink()
    planned.document["train"][keys[1]] = "of other parameters"
    assert [run.key for run in untrained(planned)] == keys[:2]
    planned.runs[0].folder("trained").mkdir(parents=True)  # which is not tested yet
    assert [run.key for run in untrained(planned)] == [keys[1]]


def test_a_line_that_is_not_tuned_says_of_which_weights_it_is(made, monkeypatch):
    def of_weights(params, this):
        found = of_setting(params, this)
        return found.assign(averaged=(found["last"] + 0.1).clip(upper=1), loss_averaged=found["loss_last"] / 2)

    monkeypatch.setattr(stages.test, "test", of_weights)
    study = TUNED.replace("tune: {", "tune: {weights: [last, averaged], ")
    write_text(MINE / "study.yaml", study.replace("base: {", "base: {training.averaged_part: 0.1, "))
    made()
    chosen = read_csv(MINE / "board.csv").query("rule == 'chosen'").set_index("line")["setting"]
    assert chosen["ln"].endswith(", averaged weights")
    assert chosen["fixed"] == "last weights"


def test_a_study_that_tunes_no_more_has_no_files_of_that(made):
    made()
    for run in planned(re.sub(r"(tune|choose): .*\n", "", TUNED))["runs"]:
        assert stage("test", run, "--study", "mine") == (0, "")
    made()
    assert not (MINE / "choice.yaml").exists()
    assert not (MINE / "settings.csv").exists()


def test_kept_seeds_of_a_tuned_line_at_other_lengths_are_refused_before_anything_is_trained(made):
    study = TUNED.replace("grow: 2, refine: 1", "grow: 0") + "kept: {ln: {norm: ln}}\nsequences: 64\n"
    write_text(MINE / "study.yaml", study)
    found = pd.DataFrame(product([6, 7], [4, 16]), columns=["seed", "length"])
    found = found.assign(task="argmax", line="ln-0_001", last=0.9, loss_last=1e-6, target=0.5, variance=1.0)
    of_choice = found.assign(seed=found["seed"] + 4).query("length <= 16")
    write_csv(MINE / "results/kept.csv", pd.concat([found, of_choice]))
    code, said = stage("studies.make", "mine")
    assert (code, "set lengths in study.yaml to those that both have" in said) == (2, True)


def test_ctrl_c_is_one_line(monkeypatch, capsys):
    def interrupted(_):
        raise KeyboardInterrupt

    monkeypatch.setattr("vanishing_variance.harness.script.run_script", interrupted)
    monkeypatch.delitem(sys.modules, "vanishing_variance.studies.make")
    with pytest.raises(SystemExit, match="130"):
        runpy.run_module("vanishing_variance.studies.make", run_name="__main__")
    assert capsys.readouterr().err == "interrupted: the same command goes on from here\n"


def test_where_accuracy_goes_is_drawn_of_lines_of_the_long_range_alone(made, monkeypatch):
    def in_parts(params, this):
        found = of_setting(params, this)
        wrong = 1 - found["last"]
        return found.assign(
            misranked_last=wrong / 2, diluted_last=wrong / 2, misread_last=0.0, right_misranked_last=0.0
        )

    monkeypatch.setattr(stages.test, "test", in_parts)
    lines = "{none: {norm: none, range: long}, ln: {norm: ln, range: long}}"
    study = f"question: Why?\ntasks: [argmax]\nbase: {{blocks: [0, 1]}}\nlines: {lines}\nmeasure: [inside]\n"
    for run in planned(study)["runs"]:
        assert stage("test", run, "--study", "mine") == (0, "")
    compared()
    assert (MINE / "parts.png").exists()


def test_averaged_weights_that_there_are_not_are_not_chosen(made):
    study = TUNED.replace("base: {", "base: {training.averaged_part: 0, ")
    planned(study)
    write_text(MINE / "study.yaml", study.replace("ln: {", "ln: {weights: averaged, "))
    code, said = stage("studies.make", "mine")
    assert (code, "line ln: training.averaged_part is 0" in said) == (2, True)


def test_seeds_of_a_tuned_line_that_are_kept_are_compared_beside_those_that_are_trained(made, monkeypatch):
    def with_noise(params, this):
        found, power = of_setting(params, this), 2 if params["norm"] == "ln" else 1
        return found.assign(last=found["last"] - 0.001 * found["seed"] ** power)

    monkeypatch.setattr(stages.test, "test", with_noise)
    study = TUNED.replace("grow: 2, refine: 1", "grow: 0") + "kept: {ln: {norm: ln}}\nsequences: 64\n"
    write_text(MINE / "study.yaml", study)
    found = pd.DataFrame(product([6, 7, 10, 11], [4, 16, 64]), columns=["seed", "length"])
    found = found.assign(
        task="argmax", line="ln-0_001", last=0.9 - 0.01 * found["seed"], loss_last=1e-6, target=0.5, variance=1.0
    )
    write_csv(MINE / "results/kept.csv", found)
    made()
    assert read_csv(MINE / "board.csv").set_index("line")["n"].to_dict() == {"ln": 6, "none": 4, "fixed": 4}
    write_text(MINE / "study.yaml", study.replace("kept: {ln: {norm: ln}}", ""))
    code, said = stage("studies.make", "mine")
    assert (code, "has seeds from 6 of line ln, which is in lines alone; name it in kept, too" in said) == (2, True)


def test_a_line_of_which_every_setting_failed_is_a_row_that_says_so(made, monkeypatch):
    def fails(params, this):
        return of_setting(params, this).assign(**({"last": 0.2} if params["norm"] == "none" else {}))

    monkeypatch.setattr(stages.test, "test", fails)
    made()
    assert read_csv(MINE / "board.csv").set_index("line")["note"].dropna().to_dict() == {"none": ALL_FAILED}
    assert ALL_FAILED in (MINE / "board.md").read_text()
    write_text(MINE / "study.yaml", TUNED.replace("{norm: ln}", "{norm: none}").partition(", fixed")[0] + "}\n")
    made()
    assert read_csv(MINE / "board.csv")["note"].tolist() == [ALL_FAILED] * 2


SHARED = """question: Why?
tasks: [argmax]
base: {norm: none, blocks: [0]}
tune: {training.learning_rate: [0.001, 0.002, 0.004], training.decay: [none, cosine]}
choose: {blocks: [5], grow: 0}
lines: {both: {}, falls: {training.decay: cosine}}
"""


def test_lines_that_share_runs_have_each_its_own_setting(made, monkeypatch):
    write_text(MINE / "study.yaml", SHARED)

    def better_without_decay(params, this):
        found = of_setting(params, this)
        better = 0.5 if params["training"]["decay"] == "none" else 1
        return found.assign(loss_last=better * found["loss_last"], last=found["last"] - 0.001 * found["seed"])

    monkeypatch.setattr(stages.test, "test", better_without_decay)
    made()
    settings = read_csv(MINE / "settings.csv").dropna(subset="chosen").set_index("line")
    assert settings["run"].to_dict() == {"both": "both-0_004-none", "falls": "both-0_004-cosine"}
    both, falls = (f"argmax-{run}-0" for run in settings["run"])
    intervened = planned(SHARED + "measure: [interventions]\n")["intervened"]
    assert {run: one["partner"] for run, one in intervened.items()} == {both: falls, falls: both}
    text = (MINE / "board.md").read_text()
    assert text.count("**") == 4
    assert "*falls* has its lowest loss at the largest learning_rate that was tried" in text


KEPT_SETTINGS = """question: Why?
tasks: [argmax]
sequences: 64
base: {norm: none, blocks: [0]}
tune: {training.learning_rate: [0.001, 0.002]}
choose: {blocks: [5], grow: 0}
lines: {}
kept: {none: {}}
"""


@pytest.mark.parametrize(
    ("blocks", "columns", "said"),
    [
        ([5], {"loss_last": 0.1}, "none-0_001, chosen for line none on argmax, has no seed of blocks of that line"),
        ([0], {"loss_last": 0.1}, "kept.csv has no seed of choose.blocks of line none on argmax"),
        ([0, 5], {}, "it has no column loss_last"),
    ],
)
def test_kept_settings_have_seeds_that_choose_and_others_and_losses(blocks, columns, said):
    write_text(MINE / "study.yaml", KEPT_SETTINGS)
    models = product(["none-0_001"], [seed for block in blocks for seed in (2 * block, 2 * block + 1)], [4, 16, 64])
    found = pd.DataFrame(models, columns=["line", "seed", "length"])
    write_csv(MINE / "results/kept.csv", found.assign(task="argmax", last=0.9, **columns))
    (MINE / "dvc.yaml").unlink(missing_ok=True)
    code, problem = stage("compare", "--study", "mine")
    assert (code, said in problem) == (2, True), problem


def test_a_kept_setting_that_diverged_is_one_that_failed():
    write_text(MINE / "study.yaml", KEPT_SETTINGS)
    models = product([f"none-{rate}" for rate in ("0_001", "0_0005")], [0, 1, 10, 11], [4, 16, 64])
    found = pd.DataFrame(models, columns=["line", "seed", "length"]).assign(last=0.9)
    found["loss_last"] = found["line"].map({"none-0_001": 0.1, "none-0_0005": 0.2})
    diverged = pd.DataFrame({"line": ["none-0_002"], "note": ["the loss of seed 10 is nan at step 7"]})
    write_csv(MINE / "results/kept.csv", pd.concat([found, diverged]).assign(task="argmax"))
    write_text(MINE / "study.yaml", KEPT_SETTINGS.replace("[0.001,", "[0.0005, 0.001,"))
    (MINE / "dvc.yaml").unlink(missing_ok=True)
    compared()
    settings = read_csv(MINE / "settings.csv").set_index("run")
    assert settings["failed"].to_dict() == {"none-0_0005": 0, "none-0_001": 0, "none-0_002": 2}
    assert "a better one may lie beyond" not in (MINE / "board.md").read_text()
