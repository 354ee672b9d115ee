"""The DAG itself, run at smoke scale in a copy of this checkout: which stages run after which change.

The tests of this file share one copy: each makes a change, reads which stages ran, and undoes the change.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
TASKS, NORMS = ("argmax", "dictionary"), {"short": ("none", "std", "ln"), "long": ("none", "ln")}


def stages(kind, block=0, tasks=TASKS, norms=NORMS):
    """The names of the stages of one kind."""
    pairs = [(name, norm) for name in norms for norm in norms[name]]
    prefix = {"short": kind, "long": f"{kind}-long"}
    return {f"{prefix[name]}@{task}-{name}-{norm}-{block}" for task in tasks for name, norm in pairs}


TRAIN, TEMPERATURE, EVALUATE = stages("train"), stages("temperature"), stages("evaluate")
GENERATE = {"generate@argmax", "generate@dictionary"}
RESULTS = {"ttest", "proposition", "figures"}
ALL = {"check", "probe", "figure1", *RESULTS, *GENERATE, *TRAIN, *TEMPERATURE, *EVALUATE}

DRAWN = ("accuracy", "accuracy-long", "loss", "loss-long", "proposition")

NEW_NORM = '''"""Division by the largest absolute value."""

LEARNABLE = {}


def normalise(outputs, parameters, epsilon):
    return outputs / (outputs.abs().amax(-1, keepdim=True) + epsilon)
'''


class Copy:
    """A copy of this checkout in a repository of its own."""

    def __init__(self, path, trace=None):
        self.path = path
        own = {"PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "DVC_NO_ANALYTICS": "1"}
        who = {
            f"GIT_{role}_{what}": "test@example.org" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")
        }
        self.environment = {**os.environ, **own, **who}
        self.environment.pop("PYTHONDONTWRITEBYTECODE", None)
        self.environment.pop("PYTHONPATH", None)
        if trace is not None:
            traced = {"PYTHONPATH": str(ROOT / "tests/tracing"), "TRACE_ROOT": str(path), "TRACE_LOG": str(trace)}
            self.environment.update(traced)

    def __call__(self, *command, exit_code=0):
        """What the command printed, both streams. On one core, so that small stages start no processes."""
        one_core = {min(os.sched_getaffinity(0))} if hasattr(os, "sched_getaffinity") else None
        done = subprocess.run(
            command,
            cwd=self.path,
            env=self.environment,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
            preexec_fn=(lambda: os.sched_setaffinity(0, one_core)) if one_core else None,
        )
        assert done.returncode == exit_code, done.stdout
        return done.stdout

    def ran(self, *command):
        """The stages that a DVC command ran."""
        return set(re.findall(r"^Running stage '(.*)':$", self(*command), re.MULTILINE))

    def commit(self, message):
        self("git", "add", "--all")
        self("git", "commit", "--quiet", "--message", message)


@pytest.fixture(scope="module")
def first_run(tmp_path_factory):
    """The copy after its first `dvc repro`, committed; what ran, and which files each stage opened."""
    folder = tmp_path_factory.mktemp("pipeline")
    copy = Copy(folder / "copy", folder / "trace")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    for name in listed.stdout.split("\0"):
        generated = name == "dvc.lock" or name.startswith(("metrics/", "plots/"))
        if name and not generated and (ROOT / name).is_file():
            (copy.path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy.path / name)
    shutil.copy(ROOT / "tests/smoke.yaml", copy.path / "params.yaml")
    copy("git", "init", "--quiet")
    copy.commit("smoke scale")
    ran = copy.ran("dvc", "repro")
    copy.commit("results")
    opened = defaultdict(set)
    for line in (folder / "trace").read_text().splitlines():
        command, file = line.split("\t")
        opened[command].add(file)
    for name in ("PYTHONPATH", "TRACE_ROOT", "TRACE_LOG"):
        copy.environment.pop(name)
    return copy, ran, opened


@pytest.fixture
def copy(first_run):
    """The copy, put back to the results of its first run afterwards."""
    copy = first_run[0]
    results = copy("git", "rev-parse", "HEAD").strip()
    yield copy
    copy("git", "reset", "--quiet", "--hard", results)
    copy("git", "clean", "--quiet", "--force", "-d")
    copy("dvc", "checkout", "--quiet")


def lock_of(copy):
    return yaml.safe_load((copy.path / "dvc.lock").read_text())["stages"]


def test_one_command_runs_everything_and_makes_every_result(first_run):
    copy, ran, _ = first_run
    assert ran == ALL
    assert len(ran) <= 40
    tables = {f"metrics/tables/table{n}.{kind}" for n in range(1, 7) for kind in ("md", "csv", "tex")}
    figures = {
        f"plots/{name}.{kind}"
        for name in (
            "figure1",
            "figure2",
            "figure3",
            "figure4",
            "accuracy",
            "loss",
            "accuracy-long",
            "loss-long",
            "proposition",
        )
        for kind in ("png", "svg")
    }
    tracked = set(copy("git", "ls-files").split())
    metrics = {f"metrics/{name}" for name in ("argmax.json", "dictionary.json", "probe.json", "accuracy.csv")}
    data = {"plots/figure1.csv", "plots/figure1-fits.csv"}
    assert metrics | data | tables | figures <= tracked
    assert not [name for name in tracked if name.startswith(("runs/", "data/"))]


def test_a_second_run_runs_nothing(copy):
    assert copy.ran("dvc", "repro") == set()
    assert "up to date" in copy("dvc", "status")


def test_a_stage_declares_exactly_the_files_that_it_opens(first_run):
    """Over-declared, it reruns without need; under-declared, it does not rerun when it should."""
    copy, _, opened = first_run
    for name, stage in lock_of(copy).items():
        declared = set()
        for path in (copy.path / entry["path"] for entry in stage["deps"]):
            files = [path] if path.is_file() else path.rglob("*")
            declared |= {str(file.relative_to(copy.path)) for file in files if "__pycache__" not in file.parts}
        written = tuple(entry["path"] for entry in stage["outs"])
        seen = opened[" ".join(stage["cmd"].split()[1:])] - {"params.yaml"}
        read = {file for file in seen if not file.startswith(written) and not file.endswith(".tmp")}
        assert read - declared == set(), name
        # Parquet and safetensors are opened by compiled code, out of sight; `check` constantly gives the same, and
        # lists the normalisers' folder to know their names, without importing them. The optimiser is one thing to
        # dvc.yaml, but only tables that are looked up need its compiled part.
        unread = {file for file in declared - read if not file.startswith(("runs/", "data/"))}
        if re.match("train(-long)?@argmax", name):
            unread.discard("src/vanishing_variance/kernels/adam.c")
        assert {file for file in unread if not (name == "check" and "/norms/" in file)} == set(), name


def test_a_stage_declares_exactly_the_parameters_that_it_takes(first_run):
    copy, _, _ = first_run
    stages = yaml.safe_load((copy.path / "dvc.yaml").read_text())["stages"]
    assert stages.pop("check")["params"] == [{"params.yaml": None}]
    for name, stage in stages.items():
        source = (copy.path / f"stages/{name.removesuffix('-long')}.py").read_text()
        taken = {
            re.sub(r"\{(?:this\.|chosen\.)?(\w+)\}", "{}", key)
            for key in re.findall(r'take\(params, f?"([^"]+)"', source)
        }
        declared = {re.sub(r"\$\{[^}]+\}", "{}", key) for key in stage.get("params", [])}
        covered = {key for key in taken for wide in declared if f"{key}.".startswith(f"{wide}.")}
        assert covered == taken, name
        assert {wide for wide in declared if any(f"{key}.".startswith(f"{wide}.") for key in taken)} == declared, name
        assert len(taken) == source.count("take(params"), name


def test_a_fresh_clone_that_pulls_the_cache_runs_nothing(copy, tmp_path):
    copy("dvc", "remote", "add", "--default", "--local", "store", str(tmp_path / "store"))
    copy("dvc", "push", "--quiet")
    clone = Copy(tmp_path / "clone")
    copy("git", "clone", "--quiet", str(copy.path), str(clone.path))
    clone("dvc", "remote", "add", "--default", "--local", "store", str(tmp_path / "store"))
    clone("dvc", "pull", "--quiet")
    assert clone.ran("dvc", "repro") == set()


def test_another_treatment_of_the_paper_trains_its_long_range_alone_and_back_again_nothing(copy):
    new = {name for kind in ("train", "temperature", "evaluate") for name in stages(kind, norms={"long": ["std"]})}
    assert copy.ran("dvc", "exp", "run", "-S", "norm=std") == {*new, "check", *RESULTS}
    table = (copy.path / "metrics/tables/table1.md").read_text()
    assert "+ std" in table
    assert "paper" not in table
    assert "paper" in (copy.path / "metrics/tables/table3.md").read_text()
    copy.commit("norm=std")
    shown = copy("dvc", "metrics", "diff", "HEAD~1", "--md")
    assert re.search(r"\| metrics/argmax.json *\| short.plain.norm.00016 *\| [\d.]+ *\| [\d.]+ *\| -?[\d.]+ *\|", shown)
    assert ".none." not in shown
    # What git keeps is not in DVC's cache, so the stages that only read results make it again.
    assert copy.ran("dvc", "exp", "run", "-S", "norm=ln") == RESULTS


def test_a_new_normaliser_trains_only_itself(copy):
    (copy.path / "src/vanishing_variance/norms/largest.py").write_text(NEW_NORM)
    norms = {"short": ["largest"], "long": ["largest"]}
    new = {name for kind in ("train", "temperature", "evaluate") for name in stages(kind, norms=norms)}
    assert copy.ran("dvc", "exp", "run", "-S", "norm=largest") == {*new, "check", *RESULTS}
    assert "+ largest" in (copy.path / "metrics/tables/table1.md").read_text()


def test_new_evaluation_lengths_retrain_nothing(copy):
    text = (copy.path / "params.yaml").read_text()
    (copy.path / "params.yaml").write_text(text.replace("lengths: [4, 16, 64]", "lengths: [4, 16]"))
    assert copy.ran("dvc", "repro") == {"check", *GENERATE, *TEMPERATURE, *EVALUATE, "ttest", "figures"}


def test_editing_a_figure_redraws_figures_alone(copy):
    path = copy.path / "src/vanishing_variance/figures/loss.py"
    path.write_text(path.read_text().replace("gradient step", "training step"))
    assert copy.ran("dvc", "repro") == {"figures"}


def test_editing_how_the_proposition_is_checked_checks_it_again(copy):
    path = copy.path / "src/vanishing_variance/proposition/summary.py"
    path.write_text(path.read_text().replace('"above_bound"', '"above_the_bound"'))
    assert copy.ran("dvc", "repro") == {"proposition"}  # its frames are the same, so nothing is drawn again


def test_editing_figure_1_draws_it_alone(copy):
    path = copy.path / "src/vanishing_variance/figures/figure1.py"
    path.write_text(path.read_text().replace("slope −0.5", "slope −1/2"))
    assert copy.ran("dvc", "repro") == {"figure1"}


def test_a_probe_that_cannot_be_made_says_so_in_one_line_and_all_else_goes_on_when_told_to(copy):
    text = (copy.path / "params.yaml").read_text()
    for old, new in (("  model: all-MiniLM-L6-v2", "  model: someone/nothing"), ("task: argmax", "task: dictionary")):
        assert old in text
        text = text.replace(old, new)
    (copy.path / "params.yaml").write_text(text)
    copy.environment["HF_HUB_OFFLINE"] = "1"
    printed = copy("dvc", "repro", "--keep-going", exit_code=255)
    del copy.environment["HF_HUB_OFFLINE"]
    said = "error: params.yaml: probe.model is 'someone/nothing': the hub cannot be reached"
    assert [line for line in printed.splitlines() if line.startswith(said)]
    assert "Traceback" not in printed
    assert set(re.findall(r"^Running stage '(.*)':$", printed, re.MULTILINE)) == {"check", "probe", "figures"}
    changed = copy("git", "status", "--porcelain", "metrics", "plots").split()[1::2]
    # DVC takes a stage's output away before it runs the stage; what was drawn from it stays.
    assert [name for name in changed if "figure1" in name or "probe" in name] == ["plots/figure1.csv"]


def test_more_seeds_train_only_the_new_block(copy):
    text = (copy.path / "params.yaml").read_text().replace("blocks: [0]", "blocks: [0, 1]")
    (copy.path / "params.yaml").write_text(text)
    assert copy.ran("dvc", "repro", "--dry", "train", "train-long") == {"check", *stages("train", block=1)}
    new = {*stages("train", block=1), *stages("evaluate", block=1)}
    assert copy.ran("dvc", "repro") == {"check", *new, *RESULTS}
    copy("make", "default-scale")
    assert copy.ran("dvc", "repro") == set()
    assert "before default-scale" in copy("git", "stash", "list")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("norm=none", "norm is 'none' (none is what every treatment is compared with); choose from ln, "),
        ("norm=null", "norm is None; choose from ln, "),
        ("norm=bogus", "norm is 'bogus'; choose from ln, "),
        ("test.lengths=[128]", "test.lengths[0] is 128; must be at most 64, the keys of task dictionary"),
        ("blocks=[]", "blocks is []; must have at least 1 entry"),
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


def test_dvcs_temporary_copies_run_their_own_source_side_by_side(copy):
    path = copy.path / "src/vanishing_variance/tables.py"
    original = path.read_text()
    path.write_text(original.replace("trained on the short range", "trained on short sequences"))
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


def test_a_new_task_and_a_new_parameter_of_another_stage_retrain_nothing(copy):
    source = copy.path / "src/vanishing_variance"
    for folder in ("tasks", "model/inputs"):
        text = (source / folder / "argmax.py").read_text()
        (source / folder / "argmin.py").write_text(
            text.replace("tasks.argmax", "tasks.argmin").replace("argmax(", "argmin(")
        )
    for path, old, new in (
        (source / "study.py", '("argmax", "dictionary")', '("argmax", "dictionary", "argmin")'),
        (copy.path / "dvc.yaml", "task: [argmax, dictionary]", "task: [argmax, dictionary, argmin]"),
        (
            copy.path / "params.yaml",
            "  dictionary:\n",
            "  argmin: {data: {classes: 3}, training: {steps: 5}}\n  dictionary:\n",
        ),
        (copy.path / "params.yaml", "  heatmap_sequences: 8\n", "  heatmap_sequences: 8\n  bins: 9\n"),
        (source / "params/diagnostics.py", "    heatmap_sequences:", "    bins: int\n    heatmap_sequences:"),
        (source / "statistics.py", "CONFIDENCE = 0.95", "CONFIDENCE = 0.99"),
    ):
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new, 1 if path.suffix == ".py" else -1))
    assert copy.ran("dvc", "repro", "check") == {"check"}
    assert copy.ran("dvc", "repro", "--dry", "train", "train-long") == stages("train", tasks=["argmin"])


def test_metrics_are_small_flat_and_finite(first_run):
    copy = first_run[0]
    document = json.loads((copy.path / "metrics/argmax.json").read_text())
    assert list(document) == ["short", "long"]
    assert list(document["short"]) == ["plain", "adaptive", "fitted"]
    assert list(document["short"]["plain"]) == ["none", "norm", "log10_p"]
    assert list(document["short"]["plain"]["none"]) == ["00004", "00016", "00064"]
    document = json.loads((copy.path / "metrics/proposition.json").read_text())
    assert {task: list(roles) for task, roles in document.items()} == {
        "argmax": ["none", "norm"],
        "dictionary": ["none", "norm"],
    }
    assert len(document["argmax"]["norm"]) == 5
