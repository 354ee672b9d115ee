"""Print what a branch changes in the results, in Markdown: stale stages, parameters, metrics.

`python .github/review.py main` compares the working tree with the commit where it left main. It needs DVC alone, and
not its cache: without one `dvc status` lists every stage, and `dvc repro --dry --allow-missing` stops at the first.
"""

import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from typing import Any

DVC = [sys.executable, "-m", "dvc"]


def output(*command: str) -> str:
    """Return what a program prints. Its errors stand on their own, and its exit code is this script's."""
    done = subprocess.run(command, check=False, stdout=subprocess.PIPE, encoding="utf-8")
    if done.returncode:
        sys.exit(done.returncode)
    return done.stdout


@cache
def in_git(commit: str, path: str) -> bool:
    """Return whether a commit has a file or folder."""
    return output("git", "ls-tree", "--name-only", commit, "--", path) != ""


def reasons(changes: list[Any], base: str) -> Iterator[str]:
    """Yield what differs from `dvc.lock` for a stage of `dvc status --json`: parameters, paths, messages.

    A clone without DVC's cache lacks what stages wrote; what is deleted counts where the commit `base` has it.
    """
    for change in changes:
        if isinstance(change, str):
            yield change
            continue
        for path, state in (change.get("changed deps", {}) | change.get("changed outs", {})).items():
            if isinstance(state, dict):
                yield from (f"`{parameter}`" for parameter in state)
            elif state == "deleted" and in_git(base, path):
                yield f"`{path}` is deleted"
            elif state not in {"deleted", "not in cache"}:
                yield f"`{path}`"


def stale_stages(status: dict[str, list[Any]], base: str) -> str:
    """Return a list of the stages that `dvc repro` would run; those of a matrix with the same reasons are one line."""
    alike = defaultdict(list)
    for stage, changes in status.items():
        if why := ", ".join(reasons(changes, base)):
            alike[stage.partition("@")[0], why].append(stage)
    lines = []
    for (matrix, why), stages in alike.items():
        name, count = (matrix, f" ({len(stages)} stages)") if len(stages) > 1 else (stages[0], "")
        lines.append(f"- `{name}`: {why}{count}")
    return "\n".join(lines)


def changed(kind: str, base: str) -> str:
    """Return DVC's table of changed params or metrics, whose cells are not padded to the widest one."""
    table = output(*DVC, kind, "diff", base[:12], "--md").strip()
    rows = re.sub("-{4,}", "---", re.sub(" {2,}", " ", table))
    return rows if rows.count("\n") > 1 else ""


def main() -> None:
    """Compare the working tree with the commit where HEAD left the revision that is the argument."""
    base = output("git", "merge-base", sys.argv[1], "HEAD").strip()
    status = json.loads(output(*DVC, "status", "--json"))
    print(f"## Changed results, compared with {base[:12]}")
    print("\n### Stale stages: run `dvc repro`, and commit what it changes\n")
    print(stale_stages(status, base) or "None.")
    for kind in ("params", "metrics"):
        print(f"\n### Changed {kind}\n")
        print(changed(kind, base) or "None.")


if __name__ == "__main__":
    main()
