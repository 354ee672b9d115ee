"""The whole graph at the smallest scale, every stage in a forked child: what it declares, reads, writes and refuses."""

import ast
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pytest
import yaml
from checkout import ALL, STUDY, TEST, TRAIN, added, edit_yaml, interventions
from graph import readers, resolve

from vanishing_variance.claims.judgement import OF_PAPERS_NETWORK
from vanishing_variance.claims.paper import CLAIMS
from vanishing_variance.engine import registry
from vanishing_variance.engine.streams import stream
from vanishing_variance.harness.arrays import read_arrays
from vanishing_variance.harness.frames import read_csv
from vanishing_variance.harness.paths import sequences
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.studies.arguments import OPTIONS, Planned

# Of the paper's runs these take hours, and the others seconds.
DEAR = ("train", "test", "interventions", "interventions-none")
SOURCE = "src/vanishing_variance"
# What finds Python and the sources, and computes nothing.
LAUNCHERS = {"stages/__init__.py", "src/vanishing_variance/__init__.py"}
DOCSTRINGS = {f"{SOURCE}/{room}/__init__.py" for room in ("results", "statistics", "studies")}
# Files, processes, errors: no dependency of what computes with models.
HARNESS = f"{SOURCE}/harness/"
# Of these `check` writes what is not read, but must not change.
OF_CHECK = ("runs/checked", "runs/plan/")
SMALL = {"layers": 1, "heads": 2, "width": 8}
MODELS = ("generate", "interventions", "interventions-none", "proposition", "probe")


def kind(name):
    """Return the kind of a stage, of either graph."""
    return name.rpartition(":")[2].partition("@")[0]


def dear(name):
    """Return whether a stage is of the dear kinds."""
    return kind(name) in DEAR


def with_models(name):
    """Return whether a stage draws sequences, trains, or computes with models."""
    return kind(name) in (*MODELS, *DEAR)


def planned(whole, name):
    """Return the plan that a stage reads, which has hashes of the files that it chooses; empty of other stages."""
    words = whole.graph[name].words
    if not dear(name) and kind(name) not in ("interventions", "interventions-none", "proposition"):
        return {"files": {}}
    study = words[5] if words[4] == "--study" else ""
    document = read_yaml(whole.folder / (f"studies/{study}/plan.yaml" if study else "runs/plan.yaml"))
    plan = Planned(study, document)
    options = dict(zip(words[3::2], words[4::2], strict=True)) if words[3].startswith("--") else {}
    key = "-".join(options[f"--{name}"] for name in OPTIONS) if options else words[3]
    part = words[2].removeprefix("stages.")
    runs = [key] if part != "interventions" else [key, plan.partner(key).key]
    parts = [plan.params(one, name) for one in runs for name in {"train", part}]
    files = {file: mark for found in parts for file, mark in found.get("files", {}).items()}
    return {**plan.params(key, "train", part), "files": files}


def test_every_stage_runs_and_writes_its_outputs(whole):
    assert set(whole.graph) >= ALL
    assert {name: ran.said for name, ran in whole.ran.items() if ran.code} == {}
    for name, stage in whole.graph.items():
        assert [out for out in stage.outs if not (whole.folder / out).exists()] == [], name
    outs = {out for stage in whole.graph.values() for out in stage.outs}
    assert whole.before & outs == {f"{STUDY}/plan.yaml"}


def test_a_stage_declares_the_files_that_it_opens(whole):
    """Under-declared, it does not rerun when it should."""
    for name, stage in whole.graph.items():
        others = (*stage.outs, *stage.params, "runs/checkpoints/", f"runs/{STUDY}/checkpoints/", "runs/plan.yaml")
        read = {file for file in whole.read(name) if not file.startswith(others)}
        chosen = {f"{SOURCE}/{file}" for file in planned(whole, name)["files"]}
        undeclared = {file for file in read if not stage.declares(file)} - LAUNCHERS - DOCSTRINGS - chosen
        assert {file for file in undeclared if not (with_models(name) and file.startswith(HARNESS))} == set(), name


def test_a_dear_stage_declares_no_other_files(whole):
    """Over-declared, it is trained again without need."""
    for name in filter(dear, whole.graph):
        read, deps = whole.read(name), whole.graph[name].deps
        if planned(whole, name).get("network", "paper") != "paper":  # the plain engine draws its sequences
            deps = {dep for dep in deps if not dep.startswith("data/")}
        outputs = {dep for dep in deps if dep.startswith(("runs/", "data/"))}
        unopened = {dep for dep in outputs if not any(file.startswith(dep) for file in read)}
        assert {dep for dep in unopened if not dep.startswith(OF_CHECK)} == set(), name
        sources = {file for file in whole.files for dep in deps - outputs if f"{file}/".startswith(f"{dep}/")}
        unread = {file for file in sources - read if not file.endswith(".c")}  # what is compiled, the machine decides
        unread -= {f"{SOURCE}/engine/spread.py"}  # of every normaliser but none
        # of the networks that are not the paper's
        unread = {file for file in unread if not file.startswith(f"{SOURCE}/measure/plain_models/")}
        of_training = "train" not in name  # whose code changes the weights, so that they are tested again
        assert {file for file in unread if not (of_training and file.startswith(f"{SOURCE}/engine/"))} == set(), name


def test_a_stage_declares_exactly_the_parameters_that_it_takes(whole):
    for name, stage in whole.graph.items():
        if name in ("check", "report", f"{STUDY}/dvc.yaml:plan"):  # they read the whole file
            continue
        plan = planned(whole, name)
        taken = {key for key in whole.ran[name].taken if key.partition(".")[0] not in plan}
        declared = stage.params.get("params.yaml", frozenset())
        assert {key for key in taken if not any(f"{key}.".startswith(f"{wide}.") for wide in declared)} == set(), name
        assert {wide for wide in declared if not any(f"{key}.".startswith(f"{wide}.") for key in taken)} == set(), name


@pytest.mark.parametrize(("need", "module"), [("processes", "harness/parallel.py"), ("gpu", "engine/device.py")])
def test_a_stage_says_that_it_starts_processes_or_computes_on_a_gpu(whole, need, module):
    needing = {name for name in whole.graph if need in whole.graph[name].needs}
    importing = {name for name in whole.graph if f"{SOURCE}/{module}" in whole.ran[name].opened}
    assert needing == importing


def test_all_of_the_study_waits_for_the_check(whole):
    """A bad parameter stops everything: a stage depends on what `check` writes, or on a stage that does.

    A study checks the parameters of each of its lines, in `plan`.
    """
    reached = {"runs/checked", f"{STUDY}/plan.yaml"}
    for name, stage in whole.graph.items():
        if name not in ("check", f"{STUDY}/dvc.yaml:plan"):
            below = any(
                f"{dep}/".startswith(f"{out}/") or f"{out}/".startswith(f"{dep}/")
                for dep in (*stage.deps, *stage.params)
                for out in reached
            )
            assert below, name
        reached |= stage.outs


def test_no_parameter_of_tests_figures_or_measurements_trains_again(whole, editable):
    """Their digests of the plan are the same, and with another learning rate others."""
    before = digests(whole, editable)
    others = {"test.sequences": 65, "diagnostics.sequences": 65, "figures.lengths": [4], "proposition.tail": 2}
    edit_yaml(editable / "params.yaml", others)
    assert digests(whole, editable) == before
    edit_yaml(editable / "params.yaml", {"training.learning_rate": 0.02})
    after = digests(whole, editable)
    assert after.keys() == before.keys()
    assert not {key for key in after if after[key] == before[key]}


def test_nothing_but_the_engine_and_what_is_chosen_trains_again(whole):
    """A change of a figure, a claim, a measurement or of how files are written keeps every trained model."""
    chosen = ("engine/", "engines.py", "attentions/", "norms/", "tasks/", "studies/files.py", "studies/arguments.py")
    sources = [file.removeprefix(f"{SOURCE}/") for file in whole.files if file.startswith(f"{SOURCE}/")]
    others = [file for file in sources if not file.startswith(chosen)]
    rooms = {file.partition("/")[0] for file in others}
    assert rooms >= {"harness", "measure", "results", "claims", "figures", "report"}
    retrained = {name for file in others for name in readers(whole.graph, f"{SOURCE}/{file}") if "train" in name}
    assert retrained == set()


def test_what_finds_python_and_the_sources_reruns_no_result(whole):
    of_seconds = {"check", "compare", "report", f"{STUDY}/dvc.yaml:plan", f"{STUDY}/dvc.yaml:compare"}
    assert {name for file in LAUNCHERS for name in readers(whole.graph, file)} == of_seconds
    for file in DOCSTRINGS:
        assert len(ast.parse((whole.folder / file).read_text()).body) == 1


@pytest.mark.parametrize(
    ("changes", "new"),
    [
        ({"norm": "std"}, set()),
        ({"norm": "rms"}, added("rms")),
        ({"attention": "ssmax"}, set()),
        (
            {"blocks": [0, 1]},
            {f"{name[:-1]}1" for name in TRAIN | TEST | interventions()},
        ),
        ({"train_on": ["short"]}, set()),
    ],
)
def test_another_choice_adds_its_own_stages_and_changes_none_of_models(whole, editable, changes, new):
    edit_yaml(editable / "params.yaml", changes)
    changed = resolve(editable)
    assert changed.keys() - whole.graph.keys() == new
    same = {name for name in changed.keys() & whole.graph.keys() if with_models(name)}
    assert {name for name in same if changed[name] != whole.graph[name]} == set()


def run_all(whole, folder, graph, left_out=()):
    """Run the stages of the root's graph in a folder, but some kinds; each must write its outputs."""
    for name, stage in graph.items():
        if STUDY in name or kind(name) in left_out:
            continue
        for path in map(folder.joinpath, stage.outs - {"plots/report/index.html"}):  # as DVC does
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        ran = whole.runner(folder, *stage.words[2:])
        assert ran.code == 0, ran.said
        assert [out for out in stage.outs if not (folder / out).exists()] == [], name


def test_another_network_is_trained_and_tested_and_what_is_not_measured_in_it_says_so(whole, editable):
    """Every stage but the generation of sequences and Figure 1's, on the short range."""
    for results in ("data", "metrics", "plots"):
        shutil.copytree(whole.folder / results, editable / results)
    edit_yaml(editable / "params.yaml", {"network": "transformer", "network_options": SMALL, "train_on": ["short"]})
    run_all(whole, editable, resolve(editable), ("generate", "probe", "figure1"))
    metrics = editable / "metrics"
    results = read_csv(metrics / "results.csv")
    assert {"last", "averaged", "hard", "adaptive"} < set(results)
    assert results["target"].between(0, 1).all()
    assert read_csv(metrics / "tables/tests.csv")["share_both"].notna().any()  # of the single answers
    assert "gradient steps, network transformer" in (metrics / "tables/tables.md").read_text()
    claims = json.loads((metrics / "claims.json").read_text())
    inside = {claim.key for claim in CLAIMS if claim.statistic in OF_PAPERS_NETWORK}
    said = "not measured: network transformer"
    assert {
        key for key, claim in claims.items() if (claim["verdict"], claim["evidence"]) == ("not tested", said)
    } == inside
    assert claims["argmax"]["n"] == 2
    assert read_csv(metrics / "interventions/accuracy.csv").empty
    page = (editable / "plots/report/index.html").read_text()
    assert len(re.findall("Not measured: network transformer", page)) == 5  # figures


def test_what_runs_left_that_are_no_more_changes_nothing(whole, editable):
    for results in ("metrics", "plots", "runs"):
        shutil.copytree(whole.folder / results, editable / results)
    for path in [path for path in (editable / "runs").rglob("argmax-0/*") if path.is_file()]:
        other_block = path.parent.with_name("argmax-7") / path.name
        other_block.parent.mkdir(exist_ok=True)
        other_block.write_text("of another study\n")
    assert whole.runner(editable, "stages.compare").code == 0
    for out in whole.graph["compare"].outs:
        for path in filter(Path.is_file, [editable / out, *(editable / out).rglob("*")]):
            assert path.read_bytes() == (whole.folder / path.relative_to(editable)).read_bytes(), path


MAJORITY = "  majority: {data: {classes: 3}, steps: {short: 30, long: 30}, training: {}}\n"


def test_a_task_in_the_list_of_params_is_trained_tested_and_compared(whole, editable):
    for results in ("data", "metrics", "plots", "runs"):
        shutil.copytree(whole.folder / results, editable / results)
    path = editable / "params.yaml"
    path.write_text(path.read_text().replace("tasks:\n", f"tasks:\n{MAJORITY}"))
    edit_yaml(path, {"train_on": ["short"]})
    graph = resolve(editable)
    new = {name for name in graph if "majority" in name}
    of_argmax = {name for name in graph if "@argmax" in name and STUDY not in name}
    assert new == {name.replace("argmax", "majority") for name in of_argmax}
    of_all = ("check", "compare", "figures", "claims", "report")
    run_all(whole, editable, {name: graph[name] for name in graph if name in new or name in of_all})
    results = read_csv(editable / "metrics/results.csv")
    assert set(results["task"]) == {"argmax", "dictionary", "majority"}
    tests = read_csv(editable / "metrics/tables/tests.csv")
    assert {"ln", "std"} <= set(tests[tests["task"] == "majority"]["line"])
    assert json.loads((editable / "metrics/summary.json").read_text())["majority_last"].keys() >= {"none", "norm"}


def digests(whole, folder, part="train"):
    """Check the parameters of a folder; return the digests of a part of the plan by run."""
    assert whole.runner(folder, "stages.check").code == 0
    return {file.name: file.read_text() for file in (folder / "runs/plan" / part).iterdir()}


def test_the_engine_of_other_networks_counts_for_them_alone(whole, editable):
    path = editable / SOURCE / "plain/training.py"
    of_paper = {file.name: file.read_text() for file in (whole.folder / "runs/plan/train").iterdir()}
    edit_yaml(editable / "params.yaml", {"network": "transformer", "network_options": SMALL, "train_on": ["short"]})
    before = digests(whole, editable)
    path.write_text(path.read_text() + "\n# changed\n")
    after = digests(whole, editable)
    assert not {key for key in before if before[key] == after[key]}
    of_both = {"network": "paper", "network_options": {}, "train_on": ["short", "long"]}
    edit_yaml(editable / "params.yaml", of_both)
    assert digests(whole, editable) == of_paper


def test_what_a_normaliser_imports_counts_for_its_own_stages_alone(whole, editable):
    norms = editable / SOURCE / "norms"
    (norms / "rms.py").write_text("from vanishing_variance.norms.ln import *\n")
    edit_yaml(editable / "params.yaml", {"norm": "rms", "train_on": ["short"]})
    before = digests(whole, editable)
    (norms / "ln.py").write_text((norms / "ln.py").read_text() + "\n# changed\n")
    after = digests(whole, editable)
    changed = {key.split("-")[2] for key in before if before[key] != after[key]}
    assert changed == {"rms", "ln"}


@pytest.mark.parametrize("name", ["argmax", "dictionary"])
def test_test_sequences_come_from_the_stream_of_their_task_and_length(whole, name):
    params = yaml.safe_load((whole.folder / "params.yaml").read_text())
    task = registry.load_task(name)(**params["tasks"][name]["data"])
    for length in params["test"]["lengths"]:
        drawn = task.sample(stream(params["seed"], "test", name, length), params["test"]["sequences"], length)
        stored = read_arrays(whole.folder / sequences(name, length))
        assert stored.keys() == drawn.keys()
        assert all(np.array_equal(stored[key], drawn[key]) for key in drawn)
