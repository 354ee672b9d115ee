"""A bad parameter file or argument is refused in one line, with exit code 2, and nothing is touched."""

import shutil
from pathlib import Path

import pytest
import yaml
from bad_parameters import GOOD, MISSING, TEXTS, VALUES
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scripts import ONE, ROOT, stage

from vanishing_variance.harness import memory
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.params import check

STUDY = "question: Why?\ntasks: [argmax]\n"


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


@pytest.mark.parametrize(
    ("script", "key"),
    [
        (("generate", "--task", "argmax"), "tasks.argmax.data.classes"),
        (("train", *ONE), "training.batch_size"),
        (("evaluate", *ONE), "diagnostics.sequences"),
        (("interventions", *ONE, "--partner", "none"), "interventions.sequences"),
        (("proposition", *ONE), "proposition.sequences"),
        (("figures",), "figures.lengths"),
        (("probe",), "probe.layers"),
    ],
)
def test_a_bad_value_is_refused_by_a_script_that_takes_it(refused, script, key):
    write_changed(key, -1)
    assert refused(*script).startswith(f"error: params.yaml: {key} is -1; must be")


@pytest.mark.parametrize(("text", "line"), TEXTS.values(), ids=TEXTS)
def test_a_file_that_is_not_what_it_should_be_is_refused(refused, text, line):
    write(text)
    for script in (("check",), ("train", *ONE)):
        assert refused(*script).startswith(f"error: params.yaml: {line}")


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


@pytest.mark.parametrize("script", ["train", "evaluate"])
@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--task", "../../x", "argument --task: "),
        ("--range", "\x1b[2J", "argument --range: "),
        ("--task", "sort", "tasks: 'sort' is unknown; choose from argmax, dictionary"),
        ("--range", "huge", "params.yaml: ranges.huge is missing; ranges has: short"),
        ("--block", "-1", "argument --block: "),
    ],
)
def test_a_bad_value_of_an_option_is_refused(refused, script, option, value, said):
    write(GOOD)
    arguments = list(ONE)
    arguments[arguments.index(option) + 1] = value
    assert said in refused(script, *arguments)


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (("generate", "--task", "../x"), "'../x' is unknown; choose from argmax, dictionary"),
        (("study_plan", "mine"), "study: 'mine' is unknown; choose from none"),
        (("study_test", "mine", "argmax-ln"), "studies/mine/plan.yaml: cannot be read as YAML"),
        (("studies.new", "../mine"), "NEW: '../mine' must be 1 to 64 characters of a-z, 0-9 and -"),
    ],
)
def test_a_bad_argument_is_refused(refused, script, said):
    write(GOOD)
    assert said in refused(*script)


def fails(_):
    raise InputError("no plan")


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
    assert "choose from mine" in refused("study_plan", "yours")
    assert stage("study_plan", "mine") == (0, "")
    said = refused("study_train", "mine", "ln")
    assert said.endswith("has no 'ln'; choose from argmax-ln-0, argmax-none-0, dictionary-ln-0, dictionary-none-0\n")


@pytest.mark.parametrize("compare", ["", "compare: [[b, a]]\n"])
def test_lines_that_have_no_seed_in_common_are_not_compared(refused, compare):
    write(GOOD)
    lines = "lines: {a: {norm: none}, b: {norm: ln, blocks: [1]}}\n"
    write_text(Path("studies/mine/study.yaml"), STUDY + lines + compare)
    said = "error: studies/mine/study.yaml: b is compared with a, and has no seed of it; change their blocks"
    assert refused("study_plan", "mine").startswith(said)


def test_a_stage_that_asks_for_far_too_much_memory_names_the_parameter(refused, monkeypatch):
    monkeypatch.setattr(memory, "free_memory", lambda: 16 * 2**30)  # whatever this machine has
    write_changed("test.sequences", 10**9)
    said = refused("generate", "--task", "argmax")
    assert said.startswith("error: needs about ")
    assert "test.sequences (1000000000)" in said


@pytest.mark.parametrize("file", ["params.yaml", "tests/smoke.yaml"])
def test_the_shipped_parameters_are_valid(file):
    check(read_yaml(ROOT / file))


@pytest.mark.usefixtures("refused")
@pytest.mark.parametrize("growth", [None, MISSING])
def test_growth_may_be_left_out_or_null(growth):
    write_changed("ranges.long.growth", growth)
    check(read_yaml(Path("params.yaml")))


def test_numbers_are_read_as_dvc_reads_them_and_a_byte_order_mark_is_passed_over(tmp_path):
    path = tmp_path / "params.yaml"
    path.write_text("\ufeffa: 1e-3\nb: -2.5E+4\nc: 1e3x\nd: 7\n")
    assert read_yaml(path) == {"a": 1e-3, "b": -25000.0, "c": "1e3x", "d": 7}
