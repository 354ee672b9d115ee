"""The whole graph at the smallest scale, every stage in a forked child: what it declares, reads, writes and refuses."""

import ast
import json
import re
import shutil

import numpy as np
import pytest
import yaml
from checkout import ALL, EVALUATE, INSIDE, STUDY, TRAIN, added, edit_yaml, interventions
from graph import readers, resolve

from vanishing_variance.claims.paper import CLAIMS
from vanishing_variance.engine import registry
from vanishing_variance.engine.streams import stream
from vanishing_variance.harness.arrays import read_arrays
from vanishing_variance.harness.frames import read_csv
from vanishing_variance.harness.paths import CHOICES, NETWORK, sequences
from vanishing_variance.harness.yaml import read_yaml

# Of the paper's runs these take hours, and the others seconds.
OF_LINES = (f"{STUDY}/dvc.yaml:train", f"{STUDY}/dvc.yaml:test")
DEAR = ("train", "evaluate", *OF_LINES)
SOURCE = "src/vanishing_variance"
# What finds Python and the sources, and computes nothing.
LAUNCHERS = {"stages/__init__.py", "src/vanishing_variance/__init__.py"}
DOCSTRINGS = {f"{SOURCE}/{room}/__init__.py" for room in ("results", "statistics", "studies")}
# Files, processes, errors: no dependency of what computes with models.
HARNESS = f"{SOURCE}/harness/"
# Of these `check` writes what is not read, but must not change.
OF_CHECK = ("runs/checked", f"{CHOICES}/")
SMALL = {"layers": 1, "heads": 2, "width": 8}
MODELS = ("generate", "interventions", "interventions-none", "proposition", "probe")


def dear(name):
    """Return whether a stage is of the dear kinds."""
    return name.partition("@")[0].removesuffix("-long") in DEAR


def with_models(name):
    """Return whether a stage draws sequences, trains, or computes with models."""
    return name.partition("@")[0].removesuffix("-long") in (*MODELS, *DEAR)


def planned(whole, name):
    """Return the plan of a line's stage, which has hashes of the files that it chooses; empty of other stages."""
    path = f"{STUDY}/plan.yaml"
    plans = read_yaml(whole.folder / path)["plans"]
    found, files = {}, {}
    for key in whole.graph[name].params.get(path, set()) - {"compare", "runs"}:
        part, run = key.split(".")
        plan = plans[run.rpartition("-")[0]][part]
        found |= plan
        files |= plan.get("files", {})
    return found | {"files": files}


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
        others = (*stage.outs, *stage.params, "runs/checkpoints/", f"runs/{STUDY}/checkpoints/")
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


def test_no_parameter_of_tests_figures_or_measurements_trains_again(whole):
    taken = {key.partition(".")[0] for name in TRAIN for key in whole.ran[name].taken}
    assert taken == {"seed", "seeds_per_block", "model", "ranges", "tasks", "training"}


def test_nothing_but_the_engine_and_what_is_chosen_trains_again(whole):
    """A change of a figure, a claim, a measurement or of how files are written keeps every trained model."""
    chosen = ("engine/", "attentions/", "norms/", "tasks/", "studies/line.py", "studies/arguments.py")
    sources = [file.removeprefix(f"{SOURCE}/") for file in whole.files if file.startswith(f"{SOURCE}/")]
    others = [file for file in sources if not file.startswith(chosen)]
    rooms = {file.partition("/")[0] for file in others}
    assert rooms >= {"harness", "measure", "results", "claims", "figures", "report"}
    retrained = {name for file in others for name in readers(whole.graph, f"{SOURCE}/{file}") if "train" in name}
    assert retrained == set()


def test_what_finds_python_and_the_sources_reruns_no_result(whole):
    of_seconds = {"check", "report", f"{STUDY}/dvc.yaml:plan", f"{STUDY}/dvc.yaml:compare"}
    assert {name for file in LAUNCHERS for name in readers(whole.graph, file)} == of_seconds
    for file in DOCSTRINGS:
        assert len(ast.parse((whole.folder / file).read_text()).body) == 1


@pytest.mark.parametrize(
    ("changes", "new"),
    [
        ({"norm": "std"}, added({"long": ["std"]}, "std")),
        ({"norm": "rms"}, added({"short": ["rms"], "long": ["rms"]}, "rms")),
        (
            {"attention": "ssmax"},
            {name.replace("softmax", "ssmax") for name in TRAIN | EVALUATE | INSIDE},
        ),
        ({"blocks": [0, 1]}, {f"{name[:-1]}1" for name in TRAIN | EVALUATE | interventions()}),
        ({"train_also_on": []}, set()),
    ],
)
def test_another_choice_adds_its_own_stages_and_changes_none_of_models(whole, editable, changes, new):
    edit_yaml(editable / "params.yaml", changes)
    changed = resolve(editable)
    assert changed.keys() - whole.graph.keys() == new
    same = {name for name in changed.keys() & whole.graph.keys() if with_models(name)}
    assert {name for name in same if changed[name] != whole.graph[name]} == set()


def test_another_network_is_trained_and_tested_and_what_is_not_measured_in_it_says_so(whole, editable):
    """Every stage but the generation of sequences and Figure 1's, on the short range."""
    for results in ("data", "metrics", "plots"):
        shutil.copytree(whole.folder / results, editable / results)
    edit_yaml(editable / "params.yaml", {"network": "transformer", "network_options": SMALL, "train_also_on": []})
    changed = resolve(editable)
    assert {name for name, stage in changed.items() if dear(name) and stage != whole.graph[name]} == set()
    for name, stage in changed.items():
        if STUDY in name or name.startswith(("generate", "probe", "figure1")):
            continue
        for path in map(editable.joinpath, stage.outs - {"plots/report/index.html"}):  # as DVC does
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        ran = whole.runner(editable, *stage.words[2:])
        assert ran.code == 0, ran.said
        assert [out for out in stage.outs if not (editable / out).exists()] == [], name

    metrics = editable / "metrics"
    accuracy = read_csv(metrics / "accuracy.csv")
    assert set(accuracy["rule"]) == {"last", "averaged"}
    assert read_csv(metrics / "tables/tests.csv")["share_both"].notna().any()  # of the single answers
    assert "gradient steps, network transformer" in (metrics / "tables/tables.md").read_text()
    claims = json.loads((metrics / "claims.json").read_text())
    inside = {claim.key for claim in CLAIMS if claim.rule.inside}
    said = "not measured: network transformer"
    assert {
        key for key, claim in claims.items() if (claim["verdict"], claim["evidence"]) == ("not tested", said)
    } == inside
    assert claims["argmax"]["n"] == 2
    for name in ("mechanism", "interventions/accuracy"):
        assert read_csv(metrics / f"{name}.csv").empty
    page = (editable / "plots/report/index.html").read_text()
    assert len(re.findall("Not measured: network transformer", page)) == 5  # figures


def test_the_engine_of_other_networks_counts_for_them_alone(whole, editable):
    def network(**changes):
        edit_yaml(editable / "params.yaml", changes)
        assert whole.runner(editable, "stages.check").code == 0
        return read_yaml(editable / NETWORK)

    before = network(network="transformer", network_options=SMALL)
    path = editable / SOURCE / "plain/training.py"
    path.write_text(path.read_text() + "\n# changed\n")
    after = network()
    assert after != before
    assert after | {"files": before["files"]} == before
    assert network(network="paper", network_options={}) == read_yaml(whole.folder / NETWORK)
    assert readers(whole.graph, NETWORK) == TRAIN | EVALUATE | INSIDE | {"ttest", "figures", "claims"}


def test_what_a_normaliser_imports_counts_for_its_own_stages_alone(whole, editable):
    norms = editable / SOURCE / "norms"
    (norms / "rms.py").write_text("from vanishing_variance.norms.ln import *\n")
    edit_yaml(editable / "params.yaml", {"norm": "rms"})
    found = []
    for text in ("\n", "\n# changed\n"):
        (norms / "ln.py").write_text((norms / "ln.py").read_text() + text)
        assert whole.runner(editable, "stages.check").code == 0
        found.append({path.name: path.read_bytes() for path in (editable / CHOICES).rglob("*.yaml")})
    before, after = found
    assert {name for name in after if after[name] != before[name]} == {"rms.yaml"}
    depend = {name for name, stage in resolve(editable).items() if str(CHOICES / "norms/rms.yaml") in stage.deps}
    assert depend == added({"short": ["rms"], "long": ["rms"]}, "rms")


@pytest.mark.parametrize("name", ["argmax", "dictionary"])
def test_test_sequences_come_from_the_stream_of_their_task_and_length(whole, name):
    params = yaml.safe_load((whole.folder / "params.yaml").read_text())
    task = registry.load_task(name)(**params["tasks"][name]["data"])
    for length in params["test"]["lengths"]:
        drawn = task.sample(stream(params["seed"], "test", name, length), params["test"]["sequences"], length)
        stored = read_arrays(whole.folder / sequences(name, length))
        assert stored.keys() == drawn.keys()
        assert all(np.array_equal(stored[key], drawn[key]) for key in drawn)
