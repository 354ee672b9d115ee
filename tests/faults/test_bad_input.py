"""A bad parameter file, argument or file is refused in one line, with exit code 2, and nothing is touched."""

import shutil
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scripts import ONE, ROOT, stage

from vanishing_variance.engine import registry
from vanishing_variance.harness import memory
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.params import check

GOOD = (ROOT / "tests/smoke.yaml").read_text()
MISSING = object()

# A dotted key, its value, and the line.
VALUES = [
    # out of range
    ("norm", "none", "norm is 'none'; must be one of centred, centred_rms, ln, rms, std"),
    ("attention", "length_gain", "attention is 'length_gain'; must be one of "),
    ("network_options", {"layers": 3}, "network_options are those of another network; paper's are the section model"),
    ("model.heads", 3, "model is {'width': 8, 'heads': 3, 'epsilon': 1e-05, "),
    ("blocks", [2**30], "blocks has 1073741824; its 2 seeds must be below 2147483648"),
    ("training.kept_steps", [5, 31], "training.kept_steps[1] is 31; must be at most 30, the most steps of any "),
    ("ranges.short.shortest", 5, "ranges.short is {'shortest': 5, 'longest': 4}; must be shortest <= longest"),
    ("probe.layers", "some", "probe.layers is 'some'; must be all, or a list of numbers that count from 0"),
    ("blocks", [0, 0], "blocks is [0, 0]; must be without a value named twice"),
    # unknown, missing or empty
    ("training.lr", 0.1, "training.lr is 0.1, but there is no such key; choose from batch_size, learning_rate"),
    ("training.batch_size", MISSING, "training.batch_size is missing; training must have batch_size, "),
    ("probe.model", "x" * 5000, "probe.model is 'xxxx"),
    # nan or infinity
    ("training.learning_rate", float("nan"), "training.learning_rate is nan; must be a finite number"),
    # what does not fit the rest of the file
    (
        "tasks.average",
        {"data": {"classes": 5}, "steps": {"short": 9, "long": 9}, "training": {}},
        "tasks.average is {",
    ),
    ("diagnostics.heatmap_sequences", 65, "diagnostics.heatmap_sequences is 65; must be at most diagnostics."),
    ("test.lengths", [4, 16, 128], "test.lengths[2] is 128; must be at most 64, the longest of task dictionary"),
    ("ranges.short.longest", 65, "ranges.short.longest is 65; must be at most 64, the longest of task dictionary"),
    ("figures.lengths", [4, 8], "figures.lengths[1] is 8; choose from test.lengths: 4, 16, 64"),
    ("proposition.tail", 5, "proposition.tail is 5; must leave at least 3 of proposition.lengths: 2, 4, 8, 32"),
]
# By name: the whole text, and the line of `check` and of `train`.
TEXTS = {
    "a key twice": (f"{GOOD}seed: 1\n", "cannot be read as YAML: line "),
    "a tag of Python": (f"{GOOD}more: !!python/object/apply:os.system ['touch hacked']\n", "cannot be read as YAML: "),
    "cut off after a line": (GOOD.partition("ranges:")[0], "ranges is missing; the file "),
    "nothing": ("", "is None; must be a mapping"),
    "no UTF-8": (f"{GOOD}more: \udcff\n", "cannot be read as YAML: "),
}
WEIGHTS = Path("runs/trained/ln/short/argmax-0/weights.safetensors")
DAMAGED = {WEIGHTS: ("test", ONE), Path("metrics/claims.json"): ("report.readme",)}
STUDY = "question: Why?\ntasks: [argmax]\n"


@pytest.fixture
def refused(tmp_path, monkeypatch):
    """The one line with which a script refuses what it finds in this folder, of which it touches nothing."""
    monkeypatch.chdir(tmp_path)

    def state():
        return {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}

    def refused(*script):
        before = state()
        code, said = stage(*script)
        assert code == 2, said
        assert said.startswith("error: ")
        assert said.endswith("\n")
        assert said[:-1].isprintable()  # so it is one line
        assert len(said) < 1100
        assert state() == before
        return said

    return refused


def write(text):
    with open("params.yaml", "wb") as file:
        file.write(text.encode(errors="surrogateescape"))


def write_changed(key, value):
    """Write the good parameters with another value of a dotted key."""
    document = yaml.safe_load(GOOD)
    *sections, last = key.split(".")
    section = document
    for name in sections:
        section = section[name]
    section[last] = value
    if value is MISSING:
        del section[last]
    write(yaml.safe_dump(document, sort_keys=False))


@pytest.mark.parametrize(("key", "value", "line"), VALUES)
def test_a_bad_value_is_refused_by_check(refused, key, value, line):
    write_changed(key, value)
    assert refused("check").startswith(f"error: params.yaml: {line}")


def test_a_task_named_as_the_long_range_of_another_is_refused(refused, monkeypatch):
    load, names = registry.load_task, registry.names
    monkeypatch.setattr(registry, "load_task", lambda name: load(name.removesuffix("_long")))
    monkeypatch.setattr(registry, "names", lambda folder: names(folder) + ["argmax_long"] * (folder == "tasks"))
    document = yaml.safe_load(GOOD)
    document["tasks"]["argmax_long"] = document["tasks"]["argmax"]
    document["train_on"] = ["short", "long"]
    write(yaml.safe_dump(document))
    assert "tasks has argmax_long, which is what metrics call the long range of argmax" in refused("check")


@pytest.mark.parametrize(
    ("script", "key"),
    [
        (("generate", "--task", "argmax"), "tasks.argmax.data.classes"),
        (("figures",), "figures.lengths"),
    ],
)
def test_a_bad_value_is_refused_by_a_script_that_takes_it(refused, script, key):
    write_changed(key, -1)
    assert refused(*script).startswith(f"error: params.yaml: {key} is -1; must be")


@pytest.mark.parametrize(("text", "line"), TEXTS.values(), ids=TEXTS)
def test_a_file_that_is_not_what_it_should_be_is_refused(refused, text, line):
    write(text)
    assert refused("check").startswith(f"error: params.yaml: {line}")


def test_no_file_and_a_directory_in_its_place_are_refused(refused, tmp_path):
    assert refused("check").startswith("error: params.yaml: cannot be read as YAML: No such file")
    (tmp_path / "params.yaml").mkdir()
    assert refused("check").startswith("error: params.yaml: cannot be read as YAML: Is a directory")


SCALARS = st.one_of(
    *(st.text(max_size=20), st.integers(-(2**70), 2**70), st.floats(allow_subnormal=False)),
    *(st.booleans(), st.none(), st.dates(), st.binary()),
)
ANYTHING = st.one_of(SCALARS, st.lists(SCALARS, max_size=4), st.dictionaries(SCALARS, SCALARS, max_size=4))
KEYS = st.sampled_from([row[0] for row in VALUES])


@pytest.mark.slow
@settings(max_examples=100, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck))
@given(key=KEYS, value=ANYTHING)
def test_whatever_a_value_is_it_is_accepted_or_refused_in_one_line(refused, key, value):
    write_changed(key, value)
    if stage("check") != (0, ""):
        assert refused("check").startswith("error: params.yaml: ")


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (("generate", "--task", "../x"), "'../x' is unknown; choose from argmax, dictionary"),
        (("train", ONE), "runs/plan.yaml: cannot be read as YAML: No such file"),
        (("plan", "mine"), "study: 'mine' is unknown; choose from none"),
        (("test", "argmax-ln-0", "--study", "mine"), "studies/mine/plan.yaml: cannot be read as YAML"),
        (("studies.new", "../mine"), "NEW: '../mine' must be 1 to 64 characters of a-z, 0-9, _ and -"),
    ],
)
def test_a_bad_argument_is_refused(refused, script, said):
    write(GOOD)
    assert said in refused(*script)


def fails(_):
    raise InputError("no plan")


@pytest.mark.parametrize("path", DAMAGED)
@pytest.mark.parametrize("content", [None, "cut"])
def test_a_missing_or_damaged_file_is_refused(refused, path, content):
    write(GOOD)
    assert stage("check") == (0, "")
    if content:
        write_text(path, content)
    assert refused(*DAMAGED[path]).startswith(f"error: {path}: ")


def test_a_new_study_does_not_overwrite_one_and_can_be_planned(refused):
    """The example of the template is valid, and each of its lines has a plan."""
    write((ROOT / "params.yaml").read_text())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("vanishing_variance.studies.new.write_plan", fails)
        assert stage("studies.new", "mine") == (2, "error: no plan\n")
    assert not Path("studies/mine/dvc.yaml").exists()  # it would end every command of DVC
    shutil.rmtree("studies")
    assert stage("studies.new", "mine") == (0, "")
    assert refused("studies.new", "mine").startswith("error: NEW: studies/mine exists; choose another name")
    assert "choose from mine" in refused("plan", "yours")
    assert stage("plan", "mine") == (0, "")
    said = refused("train", "ln", "--study", "mine")
    assert said.endswith("has no 'ln'; choose from argmax-none-0, argmax-ln-0, dictionary-none-0, dictionary-ln-0\n")


@pytest.mark.parametrize("compare", ["", "compare: [[b, a]]\n"])
def test_lines_that_have_no_seed_in_common_are_not_compared(refused, compare):
    write(GOOD)
    lines = "lines: {a: {norm: none}, b: {norm: ln, blocks: [1]}}\n"
    write_text(Path("studies/mine/study.yaml"), STUDY + lines + compare)
    said = "error: studies/mine/study.yaml: b is compared with a, and has no seed of it: that has seeds from 0 to 1; "
    assert refused("plan", "mine").startswith(said)


def test_a_stage_that_asks_for_far_too_much_memory_names_the_parameter(refused, monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 16 * 2**30)  # whatever this machine has
    write_changed("test.sequences", 10**9)
    said = refused("generate", "--task", "argmax")
    assert said.startswith("error: needs more memory than there is, about ")
    assert "test.sequences (1000000000)" in said


@pytest.mark.usefixtures("refused")
@pytest.mark.parametrize("growth", [None, MISSING])
def test_growth_may_be_left_out_or_null(growth):
    write_changed("ranges.long.growth", growth)
    check(read_yaml(Path("params.yaml")))


def test_numbers_are_read_as_dvc_reads_them_and_a_byte_order_mark_is_passed_over(tmp_path):
    path = tmp_path / "params.yaml"
    path.write_text("\ufeffa: 1e-3\nb: -2.5E+4\nc: 1e3x\nd: 7\n")
    assert read_yaml(path) == {"a": 1e-3, "b": -25000.0, "c": "1e3x", "d": 7}
