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
SCHEMA = ["check-jsonschema", "--builtin-schema", "vendor.github-workflows"]
# The one that may write: it posts the comment, and runs none of the pull request's code.
POSTS, MAY_WRITE = "comment.yml", {"actions": "read", "pull-requests": "write"}


def workflow(name):
    """A workflow, its triggers under "on", which YAML 1.1 takes for true."""
    document = yaml.safe_load((ROOT / ".github/workflows" / name).read_text())
    return {"on" if key is True else key: value for key, value in document.items()}


def steps(document):
    return [step for job in document["jobs"].values() for step in job["steps"]]


@pytest.mark.parametrize("tool", [SCHEMA, ["zizmor", "--offline", "--no-progress", "--strict-collection"]])
def test_the_tools_find_nothing(tool):
    done = subprocess.run([TOOLS / tool[0], *tool[1:], *FILES], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_code_of_strangers_never_runs_with_a_token_that_writes(path):
    document, posts = workflow(path.name), path.name == POSTS
    jobs = document["jobs"].values()
    assert (set(document["on"]) == {"workflow_run"}) == posts
    assert document["permissions"] == ({} if posts else {"contents": "read"})
    assert [job.get("permissions") for job in jobs] == [MAY_WRITE if posts else None] * len(jobs)
    assert all(job["timeout-minutes"] <= 350 for job in jobs)
    checkouts = [step for step in steps(document) if "checkout@" in step.get("uses", "")]
    assert bool(checkouts) != posts
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


def test_the_comment_is_of_the_workflow_that_writes_it_and_found_by_its_marker():
    comment, writes = workflow(POSTS), workflow("pull-request.yml")
    assert comment["on"]["workflow_run"]["workflows"] == [writes["name"]]
    assert comment["jobs"]["comment"]["env"]["MARKER"] == MARKER
    (uploaded,) = (step["with"] for step in steps(writes) if "upload-artifact" in step.get("uses", ""))
    script = steps(comment)[0]["run"]
    assert f"--name {uploaded['name']} " in script
    assert f"/{uploaded['path']} " in script


# What `gh` is here: it notes what it was asked, answers from files, and writes the artifact.
GH = """#!/bin/bash
echo "$@" >> asked
case "$*" in
  run*) mkdir review; cp artifact review/review.md ;;
  *--silent*) ;;
  *head=*) cat pulls ;;
  *) cat comments ;;
esac
"""
SHA, OTHER = "0123456789" * 4, "f" * 40
REVIEW = f"{MARKER}\n## new\n"
# Comments: ours, one of another with our marker, one of the bot's in which it is not first.
OURS = {"id": 7, "user": {"login": "github-actions[bot]"}, "body": f"{MARKER}\n## old"}
OTHERS = [{**OURS, "id": 6, "user": {"login": "someone"}}, {**OURS, "id": 9, "body": f"see {MARKER}"}]


@pytest.mark.skipif(shutil.which("jq") is None, reason="there is no jq here; GitHub has it")
@pytest.mark.parametrize(
    ("pulls", "comments", "artifact", "sent"),
    [
        ({3: SHA, 4: OTHER}, OTHERS, REVIEW, ["--method POST repos/o/r/issues/3/comments"]),
        ({3: SHA}, [*OTHERS, OURS, {**OURS, "id": 8}], REVIEW, ["--method PATCH repos/o/r/issues/comments/7"]),
        ({3: OTHER}, [], REVIEW, []),  # moved on
        ({3: SHA, 4: SHA}, [], REVIEW, []),
        ({"3/../4": SHA}, [], REVIEW, []),
        ({3: SHA}, [], "## pull 4\n", []),  # no review
    ],
)
def test_one_comment_of_the_bots_own_is_posted_and_later_updated(tmp_path, pulls, comments, artifact, sent):
    """The script of comment.yml, with a `gh` that only pretends, and a branch whose name is a command."""
    listed = [{"number": number, "head": {"sha": sha}} for number, sha in pulls.items()]
    files = {"gh": GH, "artifact": artifact, "pulls": json.dumps(listed), "comments": json.dumps(comments)}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "gh").chmod(0o755)
    environment = {"GITHUB_REPOSITORY": "o/r", "RUN": "5", "SHA": SHA, "OWNER": "stranger", "MARKER": MARKER}
    environment |= {"BRANCH": "$(touch owned)", "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}"}
    command = ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", steps(workflow(POSTS))[0]["run"]]
    done = subprocess.run(command, cwd=tmp_path, env=environment, check=False, capture_output=True, text=True)
    assert done.returncode == (artifact != REVIEW), done.stdout + done.stderr
    asked = (tmp_path / "asked").read_text()
    assert re.findall(r"^api --silent (.*) -F body=@review/review.md$", asked, re.MULTILINE) == sent
    assert asked.count("--silent") == len(sent)
    assert not (tmp_path / "owned").exists()
