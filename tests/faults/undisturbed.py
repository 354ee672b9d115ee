"""A run that nothing disturbs, and whether another one left the same."""

from checkout import Copy


def anew(finished, folder):
    """A copy of the same source in which nothing has run."""
    folder.mkdir()
    copy = Copy(folder)
    first = finished("git", "rev-list", "--max-parents=0", "HEAD").strip()
    copy("git", "clone", "--quiet", str(finished.path), ".")
    copy("git", "reset", "--quiet", "--hard", first)
    return copy


def same(copy, finished):
    """Whether the copy has what the undisturbed run left, recorded and in its folder."""
    copy("git", "add", "--all")
    results = ("--", "dvc.lock", "metrics", "plots")
    differ = copy("git", "diff", "--cached", "--name-only", finished("git", "rev-parse", "HEAD").strip(), *results)
    return differ == "" and "up to date" in copy("dvc", "status", "dvc.yaml")
