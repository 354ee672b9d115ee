"""A bad parameter file or argument is refused in one line, with exit code 2, and nothing is touched."""

import pytest
import yaml
from bad_parameters import GOOD, MISSING, TEXTS, VALUES
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scripts import ONE, ROOT, stage

from vanishing_variance.harness import memory

OF_VARIANTS = ("train", "evaluate")
# What each script must be given.
SCRIPTS = {
    **{path.stem: () for path in sorted((ROOT / "stages").glob("[!_]*.py"))},
    **dict.fromkeys(OF_VARIANTS, ONE),
    **dict.fromkeys(("leaderboard_train", "leaderboard_evaluate"), ("--line", "none")),
    **{"generate": ("--task", "argmax"), "record": ("again",), "scale": ("default",)},
}


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


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
        (("train", *ONE), "ranges.short.shortest"),
        (("evaluate", *ONE), "diagnostics.sequences"),
        (("evaluate", *ONE), "temperature.sequences"),
        (("interventions",), "interventions.sequences"),
        (("proposition",), "seeds_per_block"),
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


@pytest.mark.parametrize("script", OF_VARIANTS)
@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--task", "../../x", "argument --task: "),
        ("--range", "\x1b[2J", "argument --range: "),
        ("--task", "sort", "tasks: 'sort' is unknown; choose from argmax, dictionary"),
        ("--norm", "batch", "batch"),
        ("--attention", "hard", "hard"),
        ("--range", "huge", "params.yaml: ranges.huge is missing; ranges has: short"),
        ("--block", "-1", "argument --block: "),
        ("--block", "9" * 5000, "argument --block: "),
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
        (("generate", "--tas=argmax"), "required: --task"),
        (("train", *ONE, "more"), "unrecognized arguments: more"),
        (("leaderboard_train",), "required: --line"),
        (("scale", "big"), "'big' is unknown; choose from default, paper"),
        (("record", "../x"), "'../x'"),
        (("pieces", "A b"), "'A b'"),
    ],
)
def test_a_bad_argument_is_refused(refused, script, said):
    write(GOOD)
    assert said in refused(*script)


@pytest.mark.parametrize(("script", "needed"), SCRIPTS.items())
def test_every_script_refuses_an_unknown_option(refused, script, needed):
    assert "unrecognized arguments: --fast" in refused(script, *needed, "--fast")


def test_a_stage_that_asks_for_far_too_much_memory_names_the_parameter(refused, monkeypatch):
    monkeypatch.setattr(memory, "_free_memory", lambda: 16 * 2**30)  # whatever this machine has
    write_changed("test.sequences", 10**9)
    said = refused("generate", "--task", "argmax")
    assert said.startswith("error: needs about ")
    assert "test.sequences (1000000000)" in said
