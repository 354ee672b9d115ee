import subprocess

import pytest

from vanishing_variance.errors import InputError
from vanishing_variance.io import git


def run(root, *arguments):
    return subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def root(tmp_path):
    """A branch `main` of two commits, and a branch that left it at the first, checked out."""
    for name in ("plots/a.png", "plots/b.svg", "metrics/x.json", "src/code.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    run(tmp_path, "init", "--quiet", "--initial-branch", "main")
    git.commit_all(tmp_path, "first")
    run(tmp_path, "checkout", "--quiet", "-b", "branch")
    run(tmp_path, "checkout", "--quiet", "main")
    (tmp_path / "src/code.py").write_text("later on main")
    git.commit_all(tmp_path, "second")
    run(tmp_path, "checkout", "--quiet", "branch")
    return tmp_path


@pytest.mark.parametrize("revision", ["bogus", "", "--all", "HEAD~9", "main:src/code.py", "-h"])
def test_what_is_no_revision_is_refused_in_one_line(root, revision):
    with pytest.raises(InputError) as refused:
        git.parted(root, revision)
    assert str(refused.value) == f"--base: {revision!r} is unknown; must be a revision of this git repository"


def test_a_branch_is_compared_with_where_it_left(root):
    assert git.parted(root, "main") == run(root, "rev-parse", "main~1") == git.commit(root, "HEAD")
    run(root, "checkout", "--quiet", "--orphan", "alone")
    git.commit_all(root, "alone")
    with pytest.raises(
        InputError, match=r"^--base: 'main' has no commit in common with HEAD; fetch the whole history$"
    ):
        git.parted(root, "main")


def test_what_differs_is_what_lies_there_committed_or_not(root):
    base = git.commit(root, "HEAD")
    (root / "plots/a.png").write_text("other")
    (root / "plots/b.svg").unlink()
    (root / "metrics/x.json").write_text("other")
    git.commit_all(root, "results")
    (root / "plots/new é.svg").write_text("new")
    (root / "src/code.py").write_text("other")
    assert git.differing(root, base, "metrics", "plots") == [
        ("M", "metrics/x.json"),
        ("M", "plots/a.png"),
        ("D", "plots/b.svg"),
        ("A", "plots/new é.svg"),
    ]
    assert git.differing(root, "HEAD", "metrics") == []


def test_a_files_text_at_a_commit(root):
    assert git.text_at(root, "main", "src/code.py") == "later on main"
    assert git.text_at(root, "HEAD", "src/code.py") == "src/code.py"
    assert git.text_at(root, "HEAD", "metrics/claims.json") is None


def test_the_working_tree_is_what_git_has_or_would_take_and_lies_there(root):
    (root / ".gitignore").write_text("runs/\n")
    (root / "runs").mkdir()
    (root / "runs/weights").touch()
    (root / "new.py").touch()
    (root / "plots/a.png").unlink()
    assert sorted(git.files(root)) == [".gitignore", "metrics/x.json", "new.py", "plots/b.svg", "src/code.py"]


def test_a_commit_is_exported_without_what_came_later(root, tmp_path_factory):
    to = tmp_path_factory.mktemp("exported")
    (root / "src/code.py").write_text("edited")
    git.export(root, "main", to)
    assert (to / "src/code.py").read_text() == "later on main"
    assert sorted(str(path.relative_to(to)) for path in to.rglob("*.*")) == [
        "metrics/x.json",
        "plots/a.png",
        "plots/b.svg",
        "src/code.py",
    ]


def test_a_command_that_fails_says_why(tmp_path):
    with pytest.raises(InputError, match=r"^git ls-files: fatal: not a git repository"):
        git.files(tmp_path)
