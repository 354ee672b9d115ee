"""1,000 bad parameter files and 1,000 bad arguments: each is refused in one line, and nothing is touched."""

import importlib
import re
import sys
from collections import Counter
from types import SimpleNamespace

import pytest
import torch
from bad_parameters import FAULTS, GOOD, ROOT, dumped
from hypothesis import HealthCheck, Phase, given, settings
from ruamel.yaml import YAML
from yaml import safe_load

from vanishing_variance.core import yaml
from vanishing_variance.core.stage import run
from vanishing_variance.study.scale import SCALES

ONE = ("--norm", "ln", "--block", "0")
SCRIPTS = {
    **dict.fromkeys(("check", "capacity", "causes", "claims", "figures", "interventions", "mechanism", "probe"), ()),
    **{"proposition": (), "ttest": (), "report": (), "record": ("again",), "pieces": ("again",), "scale": ("default",)},
    **{f"generate {task}": ("--task", task) for task in ("argmax", "dictionary")},
    **{
        f"{name} {task} {range_}": ("--task", task, "--range", range_, *ONE)
        for name in ("train", "temperature", "evaluate")
        for task in ("argmax", "dictionary")
        for range_ in ("short", "long")
    },
}
# These check the whole file, and not only what they take.
WHOLE = ("check", "record", "pieces", "scale")
# These read no parameters, or compare them alone; or, the leaderboard's, lines of their own.
OTHERS = {"figure1", "readme", *(path.stem for path in (ROOT / "stages").glob("leaderboard*.py"))}
ALL = {path.stem for path in (ROOT / "stages").glob("*.py")} - {"__init__"}


STAGES = safe_load((ROOT / "dvc.yaml").read_text())["stages"]


# What scripts take of a section that dvc.yaml declares as a whole.
PARTS = {
    "tasks": [f"tasks.{task}.{part}" for task in ("argmax", "dictionary") for part in ("data", "training")],
    "tasks.${item.task}": ["tasks.${item.task}.data", "tasks.${item.task}.training"],
    "ranges": ["ranges.short", "ranges.long"],
}


def taken(script):
    """The dotted keys that a script takes before it reads, as dvc.yaml declares."""
    stage, *names = script.split()
    declared = set(STAGES[stage].get("params", ()))
    if stage in ("ttest", "claims"):  # of `tasks` the steps alone, beside their files
        declared -= {"tasks"}
    tasks, ranges = names[:1] or ("argmax", "dictionary"), names[1:] or ("short", "long")
    return {
        part.replace("${item.task}", task).replace("${item.range}", range_)
        for key in declared
        for part in PARTS.get(key, [key])
        for task in tasks
        for range_ in ranges
    }


TAKEN = {script: taken(script) for script in SCRIPTS if script not in WHOLE}


def refusing(fault):
    """The scripts that must refuse the file: those that take the bad key, what holds it, or what it holds."""
    if not fault.key and not fault.across:
        return [*SCRIPTS]
    takers = [script for script, keys in TAKEN.items() if any(_related(fault.key, key) for key in keys)]
    # What `scale` sets it does not read.
    overwritten = fault.across or any(_related(fault.key, key) for key in SCALES["default"])
    whole = [script for script in WHOLE if script != "scale" or not overwritten]
    return whole if fault.across else whole + takers


def _related(one, other):
    return f"{one}.".startswith(f"{other}.") or f"{other}.".startswith(f"{one}.")


@pytest.fixture
def refused(tmp_path, monkeypatch, capsys):
    """The one line with which a script refuses in an empty directory, as it exits with 2, having touched nothing.

    Should it take what is bad for good, it gets no further than to its work.
    """
    monkeypatch.chdir(tmp_path)
    for name in ("train.train_block", "generate.write_arrays", "probe.find"):
        monkeypatch.setattr(f"stages.{name}", _worked)
    # A file is parsed once for all scripts.
    load = _once(YAML(typ="safe", pure=True).load)
    monkeypatch.setattr(yaml, "YAML", lambda **_: SimpleNamespace(load=load))

    def refused(stage, arguments):
        module = importlib.import_module(f"stages.{stage}")
        monkeypatch.setattr(sys, "argv", [f"stages/{stage}.py", *arguments])
        before = _seen(tmp_path)
        with pytest.raises(SystemExit) as ended:
            run(module.main)
        printed = capsys.readouterr()
        assert ended.value.code == 2
        assert printed.out == ""
        assert printed.err.startswith("error: ")
        assert printed.err.endswith("\n")
        assert printed.err[:-1].isprintable()  # so it is one line
        assert len(printed.err) < 1100
        assert _seen(tmp_path) == before
        return printed.err

    return refused


def _worked(*arguments, **named):
    raise AssertionError("went to work")


def _once(parse):
    kept = {}

    def parsed(content):
        if content not in kept:
            kept.clear()
            try:
                kept[content] = parse(content)
            except Exception as problem:
                kept[content] = problem
        if isinstance(kept[content], Exception):
            raise kept[content]
        return kept[content]

    return parsed


def _seen(folder):
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*")}


@pytest.fixture(autouse=True)
def _denormals():
    """hypothesis draws denormal numbers, which `device()` in an earlier test may have let the processor flush."""
    torch.set_flush_denormal(False)


def test_every_script_is_tried():
    assert {script.split()[0] for script in SCRIPTS} == ALL - OTHERS


@pytest.mark.parametrize("files", [200, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("sort", FAULTS)
def test_a_bad_parameter_file_is_refused_in_one_line_by_every_script_that_takes_it(
    refused, tally, tmp_path, sort, files
):
    strategy, of_a_thousand = FAULTS[sort]
    wanted, tried, path = max(1, round(of_a_thousand * files / 1000)), set(), tmp_path / "params.yaml"

    @settings(
        max_examples=4 * wanted,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],  # a bad file is small enough as it is
        suppress_health_check=HealthCheck,
    )
    @given(strategy)
    def each(fault):
        if fault.content in tried or len(tried) == wanted:
            return
        if fault.content is None:
            path.unlink(missing_ok=True)
            path.mkdir()
        else:
            path.write_bytes(fault.content)
        for script in refusing(fault):
            said = refused(script.split()[0], SCRIPTS[script])
            assert said.startswith("error: params.yaml: ")
            for part in (fault.key.removesuffix("?").strip("."), *fault.said):
                assert part in said
            if fault.key and not fault.across:
                assert re.search("must be|must have|choose from|has: ", said)
        tried.add(fault.content)

    each()
    tally(f"a parameter file with {sort}", len(tried), len(tried))
    assert len(tried) == wanted


def test_a_byte_order_mark_is_no_fault(tmp_path):
    path = tmp_path / "params.yaml"
    path.write_bytes(b"\xef\xbb\xbf" + dumped(GOOD["params.yaml"]))
    assert yaml.read_yaml(path) == GOOD["params.yaml"]


# As arguments: empty, a path, no name of anything, control characters, too long, no number, too large a number.
NASTY = (
    *("", " ", "x", "../../x", "/etc/passwd", "base", "bogus", "__init__", "LN", " ln", "ln.py", "a\nb", "a\rb"),
    *("\x1b[2J", "\u2028", "\udcff", "*", "--", "-1", "1.5", "1e3", "nan", "0x1", "True", "9" * 5000, "x" * 5000),
    *("2147483648", "long.growth", "ranges", "argmax,dictionary", "$(touch hacked)", "; touch hacked"),
)
VARIANT = {"--task": "argmax", "--range": "short", "--norm": "ln", "--block": "0"}


def bad_arguments():
    """Pairs of a script and arguments of which one is bad."""
    for stage in ("train", "temperature", "evaluate"):
        for option in VARIANT:
            others = [part for pair in VARIANT.items() if pair[0] != option for part in pair]
            yield from ((stage, [*others, option, value]) for value in NASTY)
            yield from ((stage, more) for more in (others, [*others, option]))
        yield from ((stage, [*(part for pair in VARIANT.items() for part in pair), value]) for value in NASTY[1:])
    for value in NASTY:
        yield "generate", ["--task", value]
        yield "scale", [value]
        if not re.fullmatch("[a-z][a-z0-9-]{0,63}", value):
            yield "record", [value]
        if not re.fullmatch("[a-z][a-z0-9-]{0,63}|--", value):  # without a name it is the paper's record
            yield "pieces", [value]
    yield "record", ["tables"]
    for stage in sorted(ALL):
        yield from ((stage, ["--fast", value]) for value in NASTY)
        yield from ((stage, [option]) for option in ("--fast", "-x", "--out=x", "--tas=argmax"))


def test_a_bad_argument_is_refused_in_one_line_before_anything_is_read_or_written(refused, tally, tmp_path):
    (tmp_path / "params.yaml").write_bytes(dumped(GOOD["tests/smoke.yaml"]))
    tried = Counter()
    for stage, arguments in bad_arguments():
        said = refused(stage, arguments)
        assert not re.search("cannot be read|No such file", said), (stage, arguments, said)
        tried[stage] += 1
    tally("a bad argument of a stage script", tried.total(), tried.total())
    assert set(tried) == ALL
    assert tried.total() >= 1000
