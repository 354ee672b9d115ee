"""The graph run by DVC itself, at smoke scale in a copy of this checkout: which stages run after which change.

The tests share one copy: each that changes it undoes the change.
"""

import re

import pytest
from checkout import ALL, RESULTS, STUDY, TASKS, Copy, added, edit_yaml, interventions, stages

pytestmark = pytest.mark.slow

MAKE_STUDY = ("env", "PYTHONPATH=src", "python", "-m", "vanishing_variance.studies.make", "leaderboard")
REVIEW = ("python", ".github/review.py")


def change(copy, **values):
    """Set top-level or dotted keys of the copy's params.yaml."""
    edit_yaml(copy.path / "params.yaml", {key.replace("__", "."): value for key, value in values.items()})


def trained_and_tested(**which):
    """Return the stages of train and test of some variants."""
    return {name for kind in ("train", "test") for name in stages(kind, **which)}


def test_one_command_runs_everything_and_a_second_one_nothing(first_run):
    copy, ran = first_run
    assert ran == ALL
    assert copy.ran("dvc", "repro", "--all-pipelines") == set()
    assert "up to date" in copy("dvc", "status")
    tracked = copy("git", "ls-files").split()
    assert not [name for name in tracked if name.startswith(("runs/", "data/"))]


def test_what_editors_and_python_leave_reruns_nothing(copy):
    room = copy.path / "src/vanishing_variance/harness"
    for name in (".errors.py.swp", "errors.py~", ".DS_Store", "__pycache__/errors.cpython-39.pyc"):
        (room / name).parent.mkdir(exist_ok=True)
        (room / name).write_text("left")
    assert "up to date" in copy("dvc", "status")


def test_a_page_that_cannot_be_made_leaves_the_one_before(copy):
    page = copy.path / "plots/report/index.html"
    before = page.read_bytes()
    change(copy, norm="rms")
    assert "norm is 'rms'" in copy("dvc", "repro", "--single-item", "report", exit_code=255)
    assert page.read_bytes() == before


def test_a_fresh_clone_that_pulls_the_cache_runs_nothing(copy, tmp_path):
    remote = ("dvc", "remote", "add", "--default", "--local", "store", str(tmp_path / "store"))
    copy(*remote)
    copy("dvc", "push", "--quiet")
    clone = Copy(tmp_path / "clone")
    copy("git", "clone", "--quiet", str(copy.path), str(clone.path))
    clone(*remote)
    clone("dvc", "pull", "--quiet")
    assert clone.ran("dvc", "repro") == set()


def test_a_new_task_and_a_new_parameter_of_another_stage_retrain_nothing(copy):
    source = copy.path / "src/vanishing_variance"
    text = (source / "tasks/argmax.py").read_text()
    (source / "tasks/argmin.py").write_text(text.replace("argmax(", "argmin("))
    for path, old, new in (
        (
            copy.path / "params.yaml",
            "  dictionary:\n",
            "  argmin: {data: {classes: 3}, steps: {short: 5, long: 5}, training: {}}\n  dictionary:\n",
        ),
        (copy.path / "params.yaml", "  heatmap_sequences: 8\n", "  heatmap_sequences: 8\n  bins: 9\n"),
        (source / "measure/config.py", "    heatmap_sequences:", "    bins: int\n    heatmap_sequences:"),
    ):
        assert old in path.read_text()
        path.write_text(path.read_text().replace(old, new, 1 if path.suffix == ".py" else -1))
    assert copy.ran("dvc", "repro", "check") == {"check"}
    assert copy.ran("dvc", "repro", "--dry", "train") == stages("train", tasks=["argmin"])


def test_another_treatment_trains_its_models_alone_and_one_of_the_paper_nothing_and_back_again_nothing(copy):
    assert copy.ran("dvc", "exp", "run", "-S", "norm=rms") == {*added("rms"), "check", *RESULTS}
    assert copy.ran("dvc", "exp", "run", "-S", "norm=std") == {"check", *RESULTS}
    assert "+ std" in (copy.path / "metrics/tables/tables.md").read_text()
    copy.commit("norm=std")
    shown = copy("dvc", "metrics", "diff", "HEAD~1", "--md")
    assert re.search(r"\| metrics/summary.json *\| argmax_last.norm *\| [\d.]+ *\| [\d.]+ *\| -?[\d.]+ *\|", shown)
    assert "argmax.none" not in shown
    review = copy(*REVIEW, "HEAD~1")
    stale = review.partition("### Stale stages")[2].partition("###")[0]
    assert re.findall("- `(.*?)`", stale) == [f"{STUDY}/dvc.yaml:plan"]  # which reads params.yaml
    assert "| params.yaml | norm | ln | std |" in review
    # What git keeps is not in DVC's cache, so its stages run again.
    assert copy.ran("dvc", "exp", "run", "-S", "norm=ln") == RESULTS


def of_study(*names):
    """Return the addresses of stages of the study in studies/."""
    return {f"{STUDY}/dvc.yaml:{name}" for name in names}


def of_run(run):
    """Return the names of the stages of a line's block."""
    return {f"{kind}@{task}-{run}" for kind in ("train", "test") for task in TASKS}


def make_study(copy):
    """Return the stages that `make study` runs."""
    return copy.ran(*MAKE_STUDY)


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("lines:\n", "lines:\n  std: {norm: std}\n", "std"),
        ("power-ln: {attention: power}", "power-ln: {attention: power, training.learning_rate: 0.02}", "power-ln"),
        ("power-ln: {attention: power}", "power-ln: {attention: ssmax}", "power-ln"),
        ("layers: 1", "layers: 2", "transformer"),
    ],
)
def test_a_line_that_is_added_or_changed_trains_alone(copy, old, new, line):
    path = copy.path / STUDY / "study.yaml"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    assert make_study(copy) == of_study("plan", *of_run(f"{line}-0"), "compare")
    assert f"| {line} " in (copy.path / STUDY / "board.md").read_text()
    assert make_study(copy) == set()


def test_a_block_that_is_added_trains_alone_also_in_a_clone_without_weights(copy, tmp_path):
    """Two blocks, a third; then a clone, which adds a fourth, and where stale tests keep their results."""

    def with_blocks(of, blocks):
        edit_yaml(of.path / STUDY / "study.yaml", {"lines.none": {"norm": "none", "blocks": blocks}})
        return make_study(of)

    assert with_blocks(copy, [0, 1]) == of_study("plan", *of_run("none-1"), "compare")
    assert with_blocks(copy, [0, 1, 2]) == of_study("plan", *of_run("none-2"), "compare")
    copy.commit("three blocks")
    clone = Copy(tmp_path / "clone")
    copy("git", "clone", "--quiet", str(copy.path), str(clone.path))
    assert with_blocks(clone, [0, 1, 2, 5]) == of_study("plan", *of_run("none-5"), "compare")
    assert re.search(r"\| none +\| last +\| +8 \|", (clone.path / STUDY / "board.md").read_text())
    clone.commit("a fourth")
    path = clone.path / STUDY / "study.yaml"
    path.write_text(path.read_text() + "lengths: [4, 16]\n")
    assert f"{STUDY}/dvc.yaml:test@argmax-none-0" in clone(*MAKE_STUDY, exit_code=255)
    tested = [f"results/{task}-none-5.csv" for task in sorted(TASKS)]  # of the block whose weights are here
    changed = [f"{STUDY}/{name}" for name in ("dvc.lock", "plan.yaml", *tested, "study.yaml")]
    assert clone("git", "diff", "--name-only").split() == changed


def test_more_seeds_train_only_the_new_block_and_the_default_scale_comes_back(copy):
    change(copy, blocks=[0, 1])
    new = trained_and_tested(block=1) | interventions(block=1)
    assert copy.ran("dvc", "repro") == {"check", *new, *RESULTS}
    copy("make", "default-scale")
    assert copy("git", "status", "--porcelain") == ""
    assert copy.ran("dvc", "repro") == set()
    assert "before default-scale" in copy("git", "stash", "list")


def test_what_other_settings_left_is_no_result(copy):
    change(copy, train_on=["short"])
    copy("dvc", "repro")
    assert "long" not in (copy.path / "metrics/results.csv").read_text()
    copy("git", "checkout", "--quiet", "params.yaml")
    assert copy.ran("dvc", "repro") == RESULTS  # models come from the cache
    assert copy("git", "diff", "--name-only", "metrics", "plots") == ""


def test_in_a_clone_without_weights_the_page_opens_and_the_default_scale_leaves_it_as_it_is(copy, tmp_path):
    clone = Copy(tmp_path / "clone")
    copy("git", "clone", "--quiet", str(copy.path), str(clone.path))
    assert clone.ran("dvc", "repro", "--single-item", "report") == set()
    (clone.path / "plots/figures/results/accuracy-huge.png").write_text("of another setting")
    change(clone, test__sequences=96)
    clone("make", "default-scale")
    assert clone("git", "status", "--porcelain") == ""
    assert clone.ran("dvc", "repro", "--allow-missing", "--dry") == set()
