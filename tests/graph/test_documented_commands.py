"""Every command in the documentation is run, as it stands, in a copy of this checkout at smoke scale.

Except for those of NOT_RUN, each with its reason. A command is a line of a block marked `sh`, or a code span that
begins with the name of a program; a placeholder in it gets a value.
"""

import re
import sys
import time
from pathlib import Path

import pytest
from checkout import ROOT

pytestmark = pytest.mark.slow

PAGES = (
    "README.md",
    "SECURITY.md",
    "CONTRIBUTING.md",
    "docs/*.md",
    "src/*/README.md",
    "benchmarks/*.md",
    "tests/README.md",
)
PROGRAM = re.compile(r"(make|dvc|dvc-parallel|python|git|pre-commit|source|dask|[A-Z_]+=\S*) \S")
VALUES = {"<stage>": "figures", "<name>": "rms", "modify NAME": "modify store", "1000,10000": "10,20"}
# Another study would take hours: the copy's is small.
VALUES |= dict.fromkeys(("NAME=mine", "NAME=<name>", "NAME=paper-scale"), "NAME=leaderboard")

NOT_RUN = {
    "make test": "it would run itself",
    "make test-all": "hours, and it would run itself",
    "python tests/mistakes.py": "hours, and it would run itself",
    "make bench": "half an hour; tests/test_benchmarks.py measures each way once",
    "dvc exp run -S probe.model=meta-llama/Llama-3.2-1B -S probe.text=big.txt -S 'probe.lengths=[16,64,256,1024]'": (
        "needs the network and a licence; tests/probe has a tiny Llama"
    ),
    "dvc-parallel repro --scheduler tcp://10.0.0.1:8786": "needs a cluster; tests/dvc_parallel/test_cli.py starts one",
    "dvc-parallel repro --slurm 8 --slurm-option cores=8 --slurm-option memory=16GB --slurm-option walltime=04:00:00": (
        "needs SLURM; tests/dvc_parallel/test_slurm.py has a stand-in"
    ),
    "CUDA_VISIBLE_DEVICES=0 dask worker … --resources GPU=1": "needs a cluster and a GPU",
}
MERGE = (
    "git merge other",
    "git checkout --ours -- studies/mine",
    "dvc-parallel merge-lock studies/mine/dvc.lock",
    "dvc-parallel merge-lock dvc.lock",
    "git add studies/mine && git commit --no-edit",
)
NOT_RUN |= dict.fromkeys(MERGE, "needs a conflict of two clones; tests/dvc_parallel/test_merge.py has one")


def code(text):
    """The commands of a page, in its order, and the languages of its blocks."""
    blocks = re.findall(r"^ *```(\w*)\n(.*?)^ *```$", text, re.MULTILINE | re.DOTALL)
    lines = [line for language, block in blocks if language == "sh" for line in block.splitlines()]
    prose = re.sub(r"^ *```.*?^ *```$", "", text, flags=re.MULTILINE | re.DOTALL)
    spans = [span for span in re.findall(r"`([^`]+)`", prose) if PROGRAM.match(span)]
    commands = [" ".join(re.sub(r"(^|\s)# .*", "", command).split()) for command in (*lines, *spans)]
    return dict.fromkeys(filter(None, commands)), {language for language, _ in blocks}


CODE = {str(path.relative_to(ROOT)): code(path.read_text()) for page in PAGES for path in sorted(ROOT.glob(page))}
SHOWN = {command: page for page, (commands, _) in CODE.items() for command in commands}
RUN = [command for command in SHOWN if command not in NOT_RUN]


def test_every_block_says_its_language_so_none_is_overlooked():
    assert set().union(*(languages for _, languages in CODE.values())) == {"sh", "python", "text", "yaml"}
    assert len(SHOWN) > 50


def test_what_is_listed_here_is_shown():
    assert SHOWN.keys() >= NOT_RUN.keys()


@pytest.fixture(scope="module")
def documented(first_run):
    """The copy as a user has it: with an environment and a remote; but without a display."""
    copy = first_run[0]
    (copy.path / ".venv").mkdir()
    for path in Path(sys.prefix).iterdir():
        if path.name != "installed":
            (copy.path / ".venv" / path.name).symlink_to(path)
    (copy.path / ".venv/installed").touch()
    copy.environment["PYTHONPATH"] = str(copy.path / "src")
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        copy.environment.pop(name, None)
    copy("dvc", "remote", "add", "--default", "store", str(copy.path.parent / "store"))
    copy.commit("a remote")
    return copy


@pytest.fixture
def user(documented):
    """The same, put back afterwards."""
    before = documented("git", "rev-parse", "HEAD").strip()
    yield documented
    if documented("git", "status", "--porcelain") or documented("git", "rev-parse", "HEAD").strip() != before:
        documented("git", "reset", "--quiet", "--hard", before)
        documented("git", "clean", "--quiet", "--force", "-d")
        documented("dvc", "checkout", "--quiet")


@pytest.mark.parametrize("command", RUN)
def test_a_command_runs(user, command):
    filled = re.sub("|".join(VALUES), lambda found: VALUES[found[0]], command)
    user("bash", "-c", filled)
    while re.search("Running|Queued", user("dvc", "queue", "status") if "queue" in command else ""):
        time.sleep(1)


@pytest.mark.parametrize("command", [command for command in NOT_RUN if command.startswith("make ")])
def test_a_target_that_is_not_run_is_one(documented, command):
    documented(*command.split(), "--dry-run")
