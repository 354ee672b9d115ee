"""The DAG itself, run at smoke scale in a copy of this checkout.

The tests of a file share one copy: each that changes it undoes the change.
"""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from checkout import ALL, Copy, stages

from vanishing_variance.study.edited import edit_yaml

# Of the paper's runs these take hours, and the others seconds.
DEAR = ("train", "temperature", "evaluate", "leaderboard train")
PARAMS = {"params.yaml", "leaderboard/params.yaml"}
# What finds Python and the rooms, and computes nothing.
LAUNCHERS = {"stages/__init__.py", "src/vanishing_variance/__init__.py"}


def lock_of(copy):
    study, board = (yaml.safe_load((copy.path / of / "dvc.lock").read_text())["stages"] for of in ("", "leaderboard"))
    return study | {f"leaderboard {name}": stage for name, stage in board.items()}


def test_one_command_runs_everything_and_makes_every_result(first_run):
    copy, ran, _ = first_run
    assert ran == ALL
    assert len(ran) <= 44
    tables = {f"metrics/tables/table{n}.{kind}" for n in range(1, 7) for kind in ("md", "csv", "tex")}
    drawn = ("accuracy", "accuracy-long", "figure2", "figure3", "figure4", "loss", "loss-long", "proposition")
    figures = {
        f"plots/figures/{name}/{name}.{kind}"
        for name in ("figure1", "interventions", "mechanism")
        for kind in ("png", "svg")
    }
    figures |= {f"plots/figures/results/{name}.{kind}" for name in drawn for kind in ("png", "svg")}
    tracked = set(copy("git", "ls-files").split())
    metrics = {
        f"metrics/{name}"
        for name in ("accuracy.csv", "argmax.json", "dictionary.json", "probe.json", "summary.json", "tables/tests.csv")
    }
    claims = {f"metrics/{name}" for name in ("claims.json", "claims.md", "verdicts.json", "capacity.json")}
    mechanism = {f"metrics/{name}" for name in ("mechanism.csv", "mechanism.md", "explained.csv")}
    mechanism |= {f"metrics/interventions/{name}" for name in ("shares.csv", "read-out.csv", "interventions.md")}
    data = {"plots/figure1.csv", "plots/figures/figure1/figure1-fits.csv", "plots/data/loss.csv"}
    assert metrics | claims | mechanism | data | tables | figures | {"plots/report/index.html"} <= tracked
    assert (copy.path / "plots/report/run.html").exists()
    assert "plots/report/run.html" not in tracked
    assert not [name for name in tracked if name.startswith(("runs/", "data/"))]


def test_a_second_run_runs_nothing(first_run):
    copy = first_run[0]
    assert copy.ran("dvc", "repro", "--all-pipelines") == set()
    assert "up to date" in copy("dvc", "status")


def test_what_editors_and_python_leave_reruns_nothing(first_run):
    copy = first_run[0]
    room = copy.path / "src/vanishing_variance/core"
    left = [room / name for name in (".errors.py.swp", "errors.py~", ".DS_Store", "__pycache__/errors.cpython-39.pyc")]
    for path in left:
        path.parent.mkdir(exist_ok=True)
        path.write_text("left")
    try:
        assert "up to date" in copy("dvc", "status")
    finally:
        for path in left:
            path.unlink()


def test_what_finds_python_and_the_rooms_reruns_no_result(first_run):
    copy = first_run[0]
    kept = {copy.path / name: (copy.path / name).read_bytes() for name in LAUNCHERS}
    try:
        for path, content in kept.items():
            path.write_bytes(content + b"# edited\n")
        assert copy.ran("dvc", "repro", "--dry", "--all-pipelines") == {"check"}
    finally:
        for path, content in kept.items():
            path.write_bytes(content)


def test_a_stage_declares_the_files_that_it_opens_and_a_dear_one_no_others(first_run):
    """Under-declared, it does not rerun when it should; over-declared, it reruns without need."""
    copy, _, opened = first_run
    for name, stage in lock_of(copy).items():
        declared = set()
        for path in (copy.path / entry["path"] for entry in stage["deps"]):
            files = [path] if path.is_file() else path.rglob("*")
            sources = (file for file in files if file.is_file() and "__pycache__" not in file.parts)
            declared |= {str(file.relative_to(copy.path)) for file in sources}
        written = tuple(entry["path"] for entry in stage["outs"])
        # Parameters are declared as such, but for the page, which shows the file; times are nobody's outputs.
        seen = opened[" ".join(stage["cmd"].split()[1:])] - (PARAMS - declared)
        seen = {file for file in seen if not file.startswith("params.yaml:")}
        read = {file for file in seen if not file.startswith((*written, "runs/times/")) and not file.endswith(".tmp")}
        assert read - declared <= LAUNCHERS, name
        # Parquet and safetensors are opened by compiled code, out of sight. Whose products are taken is the
        # processor's matter.
        unread = {file for file in declared - read if not file.startswith(("runs/", "data/"))}
        if name.partition("@")[0].removesuffix("-long") in DEAR:
            spared = {"model/kernels/matmul.c", *(["core/arguments.py"] if name.startswith("leaderboard") else [])}
            assert unread <= {f"src/vanishing_variance/{file}" for file in spared}, name


def test_a_stage_declares_exactly_the_parameters_that_it_takes(first_run):
    copy, _, opened = first_run
    locked = lock_of(copy)
    for name in ("check", "report"):  # both read the whole file
        del locked[name]
    for name, stage in locked.items():
        seen = opened[" ".join(stage["cmd"].split()[1:])]
        taken = {file.partition(":")[2] for file in seen if file.startswith("params.yaml:")}
        declared = set(stage.get("params", {}).get("params.yaml", {}))
        assert "tasks" not in declared or any("steps" in key or key == "tasks" for key in taken), name
        if name.startswith("leaderboard"):  # whose own file has these in place of params.yaml's
            own = {key for key in taken if re.match(r"(model|training|tasks\.\w+\.(training|steps\.short))$", key)}
            whole = "leaderboard/params.yaml" in {entry["path"] for entry in stage["deps"]}
            declares = {"model", "tasks", "training"} <= set(stage.get("params", {}).get("leaderboard/params.yaml", {}))
            assert whole or declares or not own, name
            taken -= own
        assert {key for key in taken if not any(f"{key}.".startswith(f"{wide}.") for wide in declared)} == set(), name
        assert {wide for wide in declared if not any(f"{key}.".startswith(f"{wide}.") for key in taken)} == set(), name


@pytest.mark.parametrize(
    ("range_", "kind", "norms"), [("short", "train", "none std ln"), ("long", "train-long", "none ln")]
)
def test_steps_of_one_task_and_range_retrain_these_alone(first_run, range_, kind, norms):
    copy = first_run[0]
    path, kept = copy.path / "params.yaml", (copy.path / "params.yaml").read_bytes()
    edit_yaml(path, {f"tasks.argmax.steps.{range_}": 31})
    try:
        ran = copy.ran("dvc", "repro", "--dry", "--keep-going")
        retrained = {name for name in ran if name.startswith("train")}
        assert retrained == {f"{kind}@argmax-{range_}-{norm}-0" for norm in norms.split()}
    finally:
        path.write_bytes(kept)


def test_a_page_that_cannot_be_made_leaves_the_one_before(first_run):
    copy = first_run[0]
    params, page = copy.path / "params.yaml", copy.path / "plots/report/index.html"
    kept = {path: path.read_bytes() for path in (params, page)}
    params.write_text(re.sub(r"(?m)^norm: ln\b", "norm: rms", params.read_text()))
    try:
        said = copy("dvc", "repro", "--single-item", "report", exit_code=255)
        assert re.search(r"(?m)^error: params.yaml: norm is 'rms', of which metrics/tables has no results", said)
        assert page.read_bytes() == kept[page]
    finally:
        for path, content in kept.items():
            path.write_bytes(content)


@pytest.mark.slow
def test_a_fresh_clone_that_pulls_the_cache_runs_nothing(copy, tmp_path):
    copy("dvc", "remote", "add", "--default", "--local", "store", str(tmp_path / "store"))
    copy("dvc", "push", "--quiet")
    clone = Copy(tmp_path / "clone")
    copy("git", "clone", "--quiet", str(copy.path), str(clone.path))
    clone("dvc", "remote", "add", "--default", "--local", "store", str(tmp_path / "store"))
    clone("dvc", "pull", "--quiet")
    assert clone.ran("dvc", "repro") == set()


@pytest.mark.slow
def test_dvcs_temporary_copies_run_their_own_source_side_by_side(copy):
    path = copy.path / "src/vanishing_variance/analysis/tables.py"
    original = path.read_text()
    path.write_text(original.replace("trained on the {range_} range", "trained on {range_} sequences"))
    assert path.read_text() != original
    copy("dvc", "exp", "run", "--queue", "--name", "edited")
    path.write_text(original)
    copy("dvc", "exp", "run", "--queue", "--name", "other", "-S", "norm=std")
    copy("dvc", "queue", "start", "--jobs", "2")
    for _ in range(180):
        status = copy("dvc", "queue", "status")
        if status.count("Success") + status.count("Failed") == 2:
            break
        subprocess.run(["sleep", "1"], check=True)
    assert status.count("Success") == 2, status + copy("dvc", "queue", "logs", "edited")
    for experiment, said, treatment in (("edited", "short sequences", "ln"), ("other", "the short range", "std")):
        copy("dvc", "exp", "apply", experiment)
        table = (copy.path / "metrics/tables/table1.md").read_text()
        assert f"trained on {said}: accuracy (%), none against {treatment}" in table


@pytest.mark.slow
def test_a_new_task_and_a_new_parameter_of_another_stage_retrain_nothing(copy):
    source = copy.path / "src/vanishing_variance"
    shutil.copytree(source / "tasks/argmax", source / "tasks/argmin")
    for path in (source / "tasks/argmin").glob("*.py"):
        path.write_text(path.read_text().replace("tasks.argmax", "tasks.argmin").replace("argmax(", "argmin("))
    for path, old, new in (
        (source / "study/runs.py", '("argmax", "dictionary")', '("argmax", "dictionary", "argmin")'),
        (copy.path / "dvc.yaml", "task: [argmax, dictionary]", "task: [argmax, dictionary, argmin]"),
        (
            copy.path / "params.yaml",
            "  dictionary:\n",
            "  argmin: {data: {classes: 3}, training: {steps: 5}}\n  dictionary:\n",
        ),
        (copy.path / "params.yaml", "  heatmap_sequences: 8\n", "  heatmap_sequences: 8\n  bins: 9\n"),
        (source / "evaluation/config.py", "    heatmap_sequences:", "    bins: int\n    heatmap_sequences:"),
        (source / "statistics/intervals.py", "CONFIDENCE = 0.95", "CONFIDENCE = 0.99"),
    ):
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new, 1 if path.suffix == ".py" else -1))
    assert copy.ran("dvc", "repro", "check") == {"check"}
    assert copy.ran("dvc", "repro", "--dry", "train", "train-long") == stages("train", tasks=["argmin"])


def test_another_treatment_of_the_paper_trains_its_long_range_alone(copy):
    text = (copy.path / "params.yaml").read_text()
    (copy.path / "params.yaml").write_text(text.replace("norm: ln", "norm: std"))
    new = stages("train", norms={"long": ["std"]})
    assert copy.ran("dvc", "repro", "--dry", "train", "train-long") == {"check", *new}


BAD = {
    "norm=none": "norm is 'none'; must be one of centred_rms, ln, rms, std (none is what every ",
    "norm=null": "norm is None; must be one of centred_rms, ln, ",
    "test.lengths=[128]": "test.lengths[0] is 128; must be at most 64, the keys of task dictionary",
    "blocks=[]": "blocks is []; must have at least 1 entry",
}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("norm=ln; touch owned", "norm is 'ln; touch owned'; must be one of centred_rms, ln, "),
        *(pytest.param(*one, marks=pytest.mark.slow) for one in BAD.items()),
    ],
)
def test_bad_parameters_stop_at_the_check_in_one_line_and_touch_nothing_else(copy, change, said):
    kept = {path: path.stat().st_mtime_ns for path in (copy.path / "runs").rglob("*.*")}
    key, _, value = change.partition("=")
    last = key.rpartition(".")[2]
    text = (copy.path / "params.yaml").read_text()
    (copy.path / "params.yaml").write_text(re.sub(rf"^( *){last}: .*$", rf"\g<1>{last}: {value}", text, flags=re.M))
    printed = copy("dvc", "repro", exit_code=255)
    assert [line for line in printed.splitlines() if line.startswith(f"error: params.yaml: {said}")]
    assert set(re.findall(r"^Running stage '(.*)':$", printed, re.MULTILINE)) == {"check"}
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert copy("git", "status", "--porcelain", "metrics", "plots") == ""
    assert not (copy.path / "owned").exists()


def test_metrics_are_small_flat_and_finite(first_run):
    copy = first_run[0]
    document = json.loads((copy.path / "metrics/argmax.json").read_text())
    assert list(document) == ["short", "long"]
    assert list(document["short"]) == ["plain", "adaptive", "fitted_with_labels"]
    assert list(document["short"]["plain"]) == ["none", "norm", "log10_p"]
    assert list(document["short"]["plain"]["none"]) == ["00004", "00016", "00064"]
    document = json.loads((copy.path / "metrics/summary.json").read_text())
    assert list(document) == ["argmax", "argmax_long", "dictionary", "dictionary_long"]
    assert set(document["argmax"]) <= {"none", "norm", "gain", "log10_p"}
    verdicts = json.loads((copy.path / "metrics/verdicts.json").read_text())
    claims = json.loads((copy.path / "metrics/claims.json").read_text())
    assert sum(verdicts.values()) == len(claims) == 47
    assert verdicts["not_tested"] == 1  # capacity
    shown = copy("dvc", "metrics", "show", "--json")
    listed = {Path(name).name for name in json.loads(shown)[""]["data"]}
    assert listed == {"summary.json", "verdicts.json"}
    document = json.loads((copy.path / "metrics/proposition.json").read_text())
    assert {task: list(roles) for task, roles in document.items()} == {
        "argmax": ["none", "norm"],
        "dictionary": ["none", "norm"],
    }
    assert len(document["argmax"]["norm"]) == 5
