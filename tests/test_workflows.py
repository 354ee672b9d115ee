"""GitHub's workflows: valid, and safe with code of strangers; and the script that posts the comment, run for real."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from results_review.comment import MARKER

ROOT = Path(__file__).resolve().parents[1]
FILES = sorted((ROOT / ".github/workflows").iterdir())
TOOLS = Path(sys.executable).parent
# The one that posts, and what it may write. It runs none of the pull request's code.
POSTS = {"comment.yml": {"actions": "read", "pull-requests": "write"}}


def workflow(path):
    """A workflow, its triggers under "on", which YAML 1.1 takes for true."""
    document = yaml.safe_load(path.read_text())
    return {"on" if key is True else key: value for key, value in document.items()}


@pytest.fixture(params=FILES, ids=lambda path: path.name)
def path(request):
    return request.param


def steps(path):
    return [step for job in workflow(path)["jobs"].values() for step in job["steps"]]


def test_the_tools_find_nothing():
    for command in (
        ["check-jsonschema", "--builtin-schema", "vendor.github-workflows"],
        ["zizmor", "--offline", "--no-progress", "--strict-collection"],
    ):
        done = subprocess.run([TOOLS / command[0], *command[1:], *FILES], check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stdout + done.stderr


def test_every_action_is_pinned_to_a_commit_and_tells_its_version(path):
    uses = re.findall(r"^ *(?:- )?uses: *(.*)$", path.read_text(), re.MULTILINE)
    assert len(uses) == sum("uses" in step for step in steps(path))
    for one in uses:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", one), one


def test_nothing_may_be_written_but_the_comment(path):
    document = workflow(path)
    assert document["permissions"] == ({} if path.name in POSTS else {"contents": "read"})
    for job in document["jobs"].values():
        assert job.get("permissions") == POSTS.get(path.name)


def test_strangers_code_never_runs_with_a_token_that_writes(path):
    triggers = set(workflow(path)["on"])
    assert "pull_request_target" not in triggers
    assert (triggers == {"workflow_run"}) == (path.name in POSTS)
    if path.name in POSTS:
        assert not [step for step in steps(path) if "uses" in step]


def test_nothing_is_pasted_into_a_script(path):
    assert [step["run"] for step in steps(path) if "${{" in step.get("run", "")] == []


def test_a_checkout_leaves_no_token_behind(path):
    checkouts = [step for step in steps(path) if step.get("uses", "").startswith("actions/checkout@")]
    assert len(checkouts) == (path.name not in POSTS)
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


def test_every_job_ends(path):
    most = 350 if path.name in {"faults.yml", "anywhere.yml"} else 60
    assert all(job["timeout-minutes"] <= most for job in workflow(path)["jobs"].values())


def test_the_comment_is_of_the_workflow_that_writes_it_and_found_by_its_marker():
    comment = workflow(ROOT / ".github/workflows/comment.yml")
    writes = ROOT / ".github/workflows/pull-request.yml"
    assert comment["on"]["workflow_run"]["workflows"] == [workflow(writes)["name"]]
    assert comment["jobs"]["comment"]["env"]["MARKER"] == MARKER
    (uploaded,) = (step["with"] for step in steps(writes) if "upload-artifact" in step.get("uses", ""))
    script = steps(ROOT / ".github/workflows/comment.yml")[0]["run"]
    assert f"--name {uploaded['name']} " in script
    assert f"/{uploaded['path']} " in script


# What `gh` is here: it answers from a file, writes the artifact, and notes what it was asked.
GH = """#!{python}
import json, pathlib, sys
here, arguments = pathlib.Path({here!r}), sys.argv[1:]
answers = json.loads((here / "answers.json").read_text())
with (here / "asked").open("a") as log:
    print(json.dumps(arguments), file=log)
if arguments[0] == "run":
    folder = pathlib.Path(arguments[arguments.index("--dir") + 1])
    folder.mkdir()
    (folder / "review.md").write_text(answers["artifact"])
elif "--silent" not in arguments:
    print(json.dumps(answers["pulls" if arguments[-1].startswith("head=") else "comments"]))
"""
SHA = "0123456789" * 4
BOT, PERSON = {"login": "github-actions[bot]"}, {"login": "someone"}
OURS = {"id": 7, "user": BOT, "body": f"{MARKER}\n## old"}


@pytest.mark.skipif(shutil.which("jq") is None, reason="there is no jq here; GitHub has it")
class TestPosting:
    """The script of comment.yml, with a `gh` that only pretends."""

    @pytest.fixture
    def post(self, tmp_path):
        def run(pulls, comments, artifact=f"{MARKER}\n## new\n", exit_code=0):
            answers = {"pulls": pulls, "comments": comments, "artifact": artifact}
            (tmp_path / "answers.json").write_text(json.dumps(answers))
            gh = tmp_path / "gh"
            gh.write_text(GH.format(python=sys.executable, here=str(tmp_path)))
            gh.chmod(0o755)
            environment = {"GITHUB_REPOSITORY": "o/r", "RUN": "5", "SHA": SHA, "OWNER": "stranger", "MARKER": MARKER}
            environment |= {"BRANCH": "$(touch owned)", "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
            script = steps(ROOT / ".github/workflows/comment.yml")[0]["run"]
            command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script]
            done = subprocess.run(command, cwd=tmp_path, env=environment, check=False, capture_output=True, text=True)
            assert done.returncode == exit_code, done.stdout + done.stderr
            assert not (tmp_path / "owned").exists()
            asked = [json.loads(line) for line in (tmp_path / "asked").read_text().splitlines()]
            return [one[one.index("--method") + 1 :] for one in asked if "--silent" in one]

        return run

    def test_the_first_time_it_is_posted_whoever_else_has_its_marker(self, post):
        pulls = [{"number": 3, "head": {"sha": SHA}}, {"number": 4, "head": {"sha": "f" * 40}}]
        others = [{**OURS, "user": PERSON}, {"id": 9, "user": BOT, "body": f"see {MARKER}"}]
        posted = ["POST", "repos/o/r/issues/3/comments", "-F", "body=@review/review.md"]
        assert post(pulls, others) == [posted]

    def test_later_it_is_updated_and_it_alone(self, post):
        pulls = [{"number": 3, "head": {"sha": SHA}}]
        comments = [{**OURS, "id": 6, "user": PERSON}, OURS, {**OURS, "id": 8}]
        assert post(pulls, comments) == [["PATCH", "repos/o/r/issues/comments/7", "-F", "body=@review/review.md"]]

    @pytest.mark.parametrize("heads", [[], ["f" * 40], [SHA, SHA]], ids=["closed", "moved on", "two"])
    def test_without_a_single_pull_request_there_nothing_is_posted(self, post, heads):
        assert post([{"number": number, "head": {"sha": sha}} for number, sha in enumerate(heads)], []) == []

    def test_a_number_that_is_none_is_not_used(self, post):
        assert post([{"number": "3/../4", "head": {"sha": SHA}}], []) == []

    def test_what_is_no_review_is_not_posted(self, post):
        assert post([{"number": 3, "head": {"sha": SHA}}], [], artifact="## pull 4\n", exit_code=1) == []
