"""GitHub's workflows: valid, and safe with code of strangers; the published page finds the files that it links."""

import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import urljoin

import pytest
import yaml
from checkout import ROOT

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
