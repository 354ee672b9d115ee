"""A bad parameter file or argument is refused in one line, with exit code 2, and nothing is touched."""

import pytest
import yaml
from bad_parameters import GOOD, MISSING, TEXTS, VALUES
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scripts import ONE, ROOT, stage

from vanishing_variance.harness import memory

# A script that takes a section of params.yaml; those that are not here have a script of their name.
TAKES = {
    **dict.fromkeys(("blocks", "seeds_per_block", "test"), "capacity"),
    **dict.fromkeys(("tasks", "ranges", "model", "training"), "train"),
    **{"norm": "figures", "seed": "proposition", "diagnostics": "evaluate"},
}
OF_VARIANTS = ("train", "temperature", "evaluate")
# What each script must be given.
SCRIPTS = {
    **{path.stem: () for path in sorted((ROOT / "stages").glob("[!_]*.py"))},
    **dict.fromkeys(OF_VARIANTS, ONE),
    **dict.fromkeys(("leaderboard_train", "leaderboard_test"), ("--line", "none")),
    **{"generate": ("--task", "argmax"), "record": ("again",), "scale": ("default",)},
}


@pytest.fixture(autouse=True)
def _here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def write(text):
    with open("params.yaml", "wb") as file:
        file.write(text.encode(errors="surrogateescape"))


def changed(key, value):
    """The good parameters with another value of a dotted key."""
    document = yaml.safe_load(GOOD)
    *sections, last = key.split(".")
    section = document
    for name in sections:
        section = section[name]
    section[last] = value
    if value is MISSING:
        del section[last]
    return yaml.safe_dump(document, sort_keys=False)


def other(option, value):
    """The arguments of a variant with another value of an option."""
    place = ONE.index(option) + 1
    return (*ONE[:place], value, *ONE[place + 1 :])


def taker(key):
    """A script that takes a key, and its arguments."""
    section = key.split(".")[0]
    script = TAKES.get(section, section)
    if ".dictionary." in key:
        return (script, *other("--task", "dictionary")[:2], *other("--range", "long")[2:])
    return (script, *(other("--range", "long") if ".long" in key else SCRIPTS[script]))


@pytest.mark.parametrize(
    ("kind", "key", "value", "line"),
    [pytest.param(kind, *row, id=f"{kind}-{row[0]}") for kind, rows in VALUES.items() for row in rows],
)
def test_a_bad_value_is_refused_by_check_and_by_a_script_that_takes_it(refused, kind, key, value, line):
    write(changed(key, value))
    for script in [("check",)] if kind == "only of the whole file" else [("check",), taker(key)]:
        assert refused(*script).startswith(f"error: params.yaml: {line}")


@pytest.mark.parametrize(("old", "new", "line"), TEXTS.values(), ids=TEXTS)
def test_a_file_that_is_not_what_it_should_be_is_refused(refused, old, new, line):
    text = new if old is None else GOOD.replace(old, new)
    assert text != GOOD
    write(text)
    for script in (("check",), ("train", *ONE)):
        assert refused(*script).startswith(f"error: params.yaml: {line}")


@pytest.mark.parametrize("script", ["check", "capacity"])
def test_no_file_and_a_directory_in_its_place_are_refused(refused, tmp_path, script):
    assert refused(script).startswith("error: params.yaml: cannot be read as YAML: No such file")
    (tmp_path / "params.yaml").mkdir()
    assert refused(script).startswith("error: params.yaml: cannot be read as YAML: Is a directory")


SCALARS = st.one_of(
    *(st.text(max_size=20), st.integers(-(2**70), 2**70), st.floats(allow_subnormal=False)),
    *(st.booleans(), st.none(), st.dates(), st.binary()),
)
ANYTHING = st.one_of(SCALARS, st.lists(SCALARS, max_size=4), st.dictionaries(SCALARS, SCALARS, max_size=4))


@pytest.mark.slow
@settings(max_examples=300, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck))
@given(key=st.sampled_from(sorted({row[0] for rows in VALUES.values() for row in rows})), value=ANYTHING)
def test_whatever_a_value_is_it_is_accepted_or_refused_in_one_line(refused, key, value):
    write(changed(key, value))
    if stage("check") != (0, ""):
        assert refused("check").startswith("error: params.yaml: ")


@pytest.mark.parametrize("script", OF_VARIANTS)
@pytest.mark.parametrize(
    ("option", "values", "said"),
    [
        ("--task", ("sort", "", "../../x", "argmax,dictionary", "$(touch x)"), "argument --task: "),
        ("--norm", ("batch", "LN", "ln.py", "a\nb", "x" * 5000), "argument --norm: "),
        ("--range", ("long.growth", "../short", "\x1b[2J"), "argument --range: "),
        ("--range", ("huge",), "params.yaml: ranges.huge is missing; ranges has: short"),
        ("--block", ("x", "-1", "1.5", "2147483648", "9" * 5000), "argument --block: "),
    ],
)
def test_a_bad_value_of_an_option_is_refused(refused, script, option, values, said):
    write(GOOD)
    for value in values:
        assert said in refused(script, *other(option, value))


@pytest.mark.parametrize(
    ("script", "said"),
    [
        (("generate", "--task", "../x"), "'../x' is unknown; choose from argmax, dictionary"),
        (("generate", "--tas=argmax"), "required: --task"),
        (("train", *ONE[2:]), "required: --task"),
        (("train", *ONE, "more"), "unrecognized arguments: more"),
        (("leaderboard_train",), "required: --line"),
        (("scale", "big"), "'big' is unknown; choose from default, paper"),
        (("record", "../x"), "'../x'"),
        (("record", "tables"), "tables"),
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
    monkeypatch.setattr(memory, "free_memory", lambda: 16 * 2**30)  # whatever this machine has
    write(changed("test.sequences", 10**9))
    said = refused("generate", "--task", "argmax")
    assert said.startswith("error: generate argmax: needs about ")
    assert "test.sequences (1000000000)" in said
