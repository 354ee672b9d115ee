"""The stages of a study: a line whose training diverged, from its training to the board, and what is measured."""

import os
import re
import sys
from itertools import product
from pathlib import Path
from types import ModuleType

import numpy as np
import pandas as pd
import pytest
import yaml
from checkout import KEPT, edit_yaml
from scripts import ROOT, stage

import stages.test
import stages.train
from vanishing_variance.engine import registry
from vanishing_variance.harness.errors import DivergedError, InputError, TooLargeError
from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.frames import read_csv
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.studies import show
from vanishing_variance.studies.make import REPRO, alone, empty_deleted
from vanishing_variance.studies.new import filled
from vanishing_variance.studies.reading import check_kept

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
    before = planned()
    changes = {"norm": "rms", "tasks.argmax.steps.long": 7, "ranges.long.longest": 32, "interventions.sequences": 16}
    edit_yaml(Path("params.yaml"), changes)
    assert planned() == before
    after = planned(STUDY.replace("lines: {", "lines: {two: {norm: none, model.heads: 2}, "))
    assert after["runs"] == ["two-0", "two-1", "own-0", "own-1"]
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
    assert yaml.safe_load(filled("dvc.yaml", "mine"))["vars"] == ["plan.yaml:tasks,runs,intervened,proposed"]
    plan = planned()
    assert (plan["tasks"], plan["runs"]) == (["argmax"], ["own-0", "own-1"])
    write_text(MINE / "study.yaml", STUDY.replace("[argmax]", "argmax"))
    assert stage("studies.make", "mine")[0] == stage("plan", "mine")[0] == 2
    assert read_yaml(MINE / "plan.yaml") == plan


def test_more_blocks_of_a_line_change_no_plan_of_the_others():
    before = planned()
    after = planned(STUDY.replace("{norm: none}", "{norm: none, blocks: [0, 1, 5]}"))
    assert after["runs"] == ["own-0", "own-1", "own-5"]
    for part in ("train", "test"):
        assert after[part].pop("argmax-own-5") == after[part]["argmax-own-0"]
    assert {**after, "runs": before["runs"]} == before


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
    check_kept("mine", read_yaml(Path("params.yaml")))
    lines[1] += "0.5"
    write_text(MINE / "results/kept.csv", "\n".join(lines) + "\n")
    with pytest.raises(InputError, match=rf"seed 0, length 16: {column} is empty; must be a number from 0"):
        check_kept("mine", read_yaml(Path("params.yaml")))


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
    write_text(MINE / "dvc.lock", "stages: {test@argmax-own-0: {}}\n")
    empty_deleted("mine", RUNS)
    assert [path.exists() for path in results] == [True, False]  # the other was never tested
    assert results[0].read_text() == ""
    write_text(results[0], KEPT)
    empty_deleted("mine", RUNS)
    assert results[0].read_text() == KEPT


def test_the_board_is_shown_and_has_words_for_the_interval_of_two_seeds(capsys):
    kept = KEPT + KEPT.partition("\n")[2].replace("before", "own").replace("0.75", "0.5")
    write_text(MINE / "results/kept.csv", kept)
    planned(STUDY.replace("lines: {own: {norm: none}}\n", "lines: {}\n").replace("{before: {}", "{before: {}, own: {}"))
    board = compared().set_index("line")
    assert board.loc["before", ["beyond_low", "beyond_high"]].notna().all()
    text = (MINE / "board.md").read_text()
    assert re.search(r"\| before +\| last +\| +2 \| 37.5 \[too few seeds\] \|", text)
    assert re.search(r"\| own +\| before +\| last +\| +2 \| \+0.0 \[too few seeds\] \|", text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["show", "mine"])
        show.main()
    shown = capsys.readouterr().out
    assert shown.endswith("\n\nthe board: studies/mine/board.md\n")
    assert text.partition("## argmax")[2].partition("\n\nGains are")[0] in shown


def test_a_seed_that_is_kept_twice_is_one_line():
    write_text(MINE / "results/kept.csv", KEPT + KEPT.partition("\n")[2].partition("\n")[0] + "\n")
    said = "error: studies/mine/results/kept.csv has seed 0 of line before on argmax twice at length 4; remove one\n"
    assert stage("studies.make", "mine") == (2, said)


@pytest.mark.parametrize("lines", ["{}", "{two: {norm: ln}}"])
def test_dvc_makes_a_study_with_a_line_to_train_and_one_of_kept_lines_alone_has_no_graph(lines, monkeypatch):
    ran = []
    monkeypatch.setattr(os, "execv", lambda _, command: ran.append(command[2:]))
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


def test_a_line_that_diverges_is_a_result_which_the_board_shows(monkeypatch):
    monkeypatch.setattr(stages.train, "train", diverges)
    assert trained_and_tested()["note"].tolist() == [SAID] * 2
    board = compared().set_index("line")
    assert board["note"].dropna().to_dict() == {"own": SAID}
    assert board.loc["before", "beyond"] == 37.5
    assert SAID in (MINE / "board.md").read_text()
    assert not (MINE / "board.png").exists()  # of two lines


def test_a_line_that_no_longer_diverges_is_tested(monkeypatch):
    monkeypatch.setattr(stages.train, "train", diverges)
    trained_and_tested()
    monkeypatch.setattr(stages.train, "train", lambda *_: None)
    monkeypatch.setattr(stages.test, "test", results_of)
    own = trained_and_tested()
    assert "note" not in own
    assert set(own["seed"]) == {0, 1}


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


def test_a_study_of_kept_lines_alone_is_of_as_many_sequences_as_it_says():
    kept = "question: Why?\ntasks: [argmax]\nlines: {}\nkept: {before: {}, all: {}}\nsequences: 64\n"
    perfect = re.sub(r"0\.\d+", "1.0", KEPT.partition("\n")[2]).replace("before", "all")
    write_text(MINE / "results/kept.csv", KEPT + perfect)
    assert planned(kept)["compare"] == {"longest": {"short": 4}, "sequences": 64}
    gain = compared().query("line == 'all'")["log_odds"].item()
    assert gain == pytest.approx(np.log(64.5 / 0.5) - np.log(48.5 / 16.5) / 2, abs=1e-6)


def test_results_that_were_made_of_other_things_are_refused_before_anything_is_trained(monkeypatch):
    """Of another root seed, as many sequences, data of the task or, of one line, parameters."""
    monkeypatch.setattr(os, "execv", lambda *_: None)
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
        if (column, line) == ("trained_with", "before"):  # lines may be trained otherwise
            assert (code, said) == (0, "")
        else:
            assert (code, f"{column} on argmax differs" in said) == (2, True), said


def test_a_study_of_before_is_turned_over_where_its_lines_ran_by_the_parameters_that_they_have(monkeypatch):
    renewed = []
    monkeypatch.setattr("vanishing_variance.studies.renew._renew_lock", lambda _, ran: renewed.append(ran))
    before = planned()
    path = str(MINE / "plan.yaml")
    digests = {"train.argmax-own-0": before["train"]["argmax-own-0"], "train.argmax-own-1": "of other parameters"}
    lock = {key.replace(".", "@"): {"params": {path: {key: text}}} for key, text in digests.items()}
    write_text(MINE / "dvc.lock", yaml.safe_dump({"stages": lock}))
    write_text(MINE / "dvc.yaml", "of before")
    old = read_yaml(MINE / "plan.yaml")
    del old["plans"]["argmax-own"]["test"]["made_of"]
    old["plans"]["argmax-own"]["train"]["files"] = {}
    write_text(MINE / "plan.yaml", yaml.safe_dump(old))
    assert stage("studies.renew", "mine") == (0, "")
    assert renewed == [{"train@argmax-own-0"}]
    assert (MINE / "dvc.yaml").read_text() == filled("dvc.yaml", "mine")
    assert read_yaml(MINE / "plan.yaml") == before
    for key, value, back in (("training.learning_rate", 0.5, 0.01), ("diagnostics.sequences", 32, 64)):
        edit_yaml(Path("params.yaml"), {key: value})
        code, said = stage("studies.renew", "mine")
        assert (code, f"has another {key.partition('.')[0]} than its results" in said) == (2, True), said
        edit_yaml(Path("params.yaml"), {key: back})


MEAN = """{question: Why?, tasks: [mean], lines: {none: {norm: none}, ln: {norm: ln}}, base: {
    tasks.mean.data.bins: 4, tasks.mean.steps.short: 3, blocks: [0]}}"""


@pytest.mark.trains
def test_a_task_of_a_file_that_params_yaml_does_not_name_is_made_into_a_board(monkeypatch):
    module = ModuleType("vanishing_variance.tasks.mean")
    exec((ROOT / "tests/own_tasks.py").read_text().partition("class Drawn")[0], vars(module))
    monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr("vanishing_variance.studies.plan.hashes", lambda names: dict.fromkeys(names, ""))
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


def test_a_line_of_which_one_block_diverged_has_its_note_and_is_no_baseline(monkeypatch):
    monkeypatch.setattr(stages.train, "train", lambda plan, this: diverges() if this.block else None)
    monkeypatch.setattr(stages.test, "test", results_of)
    trained_and_tested()
    assert compared().query("line == 'own'")["note"].tolist() == [SAID]
    planned(STUDY.replace("[[own, before]]", "[[before, own]]"))
    assert compared().query("line == 'before'")["n_paired"].tolist() == [0]
    assert re.search(r"\| before +\| own +\| last +\| +0 \|", (MINE / "board.md").read_text())


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
