"""Deliberate mistakes, each made in a worktree of the last commit, and the first test that finds it.

    python tests/mistakes.py [--only NAME]

A mistake of mistakes.yaml is a text that stands in one place of the sources, and what takes its place. The tests named
after the changed module and those in the folder of its package run first and stop at the first failure; the whole suite
runs for what they do not find.
"""

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[1]
PYTEST = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "-p", "no:cacheprovider", "-m", "not slow"]
PYTEST += ["--ignore", "tests/test_mistakes.py"]  # where a mistake is made its text is gone
WHOLE = ["-n", "2", "--dist", "loadfile", "tests"]
SECONDS = 3600

MISTAKES = yaml.safe_load((ROOT / "tests/mistakes.yaml").read_text())


def git(*words: str, folder: Path = ROOT) -> str:
    """Return what git prints."""
    return subprocess.run(["git", *words], cwd=folder, check=True, stdout=subprocess.PIPE, text=True).stdout


def sources(folder: Path) -> dict[Path, str]:
    """Return the texts of the files in which mistakes are made."""
    listed = git("ls-files", "src", "stages", ".github", "dvc.yaml", "*/dvc.yaml", folder=folder).split()
    paths = [folder / name for name in listed if Path(name).suffix in (".py", ".c", ".yaml")]
    return {path: path.read_text() for path in paths}


def place(texts: dict[Path, str], old: str) -> Path | None:
    """Return the one file that has a text once, None where there is none or more than one."""
    found = [path for path, text in texts.items() if old in text]
    return found[0] if len(found) == 1 and texts[found[0]].count(old) == 1 else None


def near(folder: Path, changed: Path) -> list[str]:
    """Return tests named after the changed file, and folders after its path; of a graph or a stage, tests/graph."""
    parts = changed.relative_to(folder).parts
    names = {"graph"} if changed.suffix == ".yaml" or parts[0] == "stages" else set(parts)
    named = [str(path.relative_to(folder)) for path in sorted(folder.glob(f"tests/*/test_{changed.stem}.py"))]
    return named + [f"tests/{name}" for name in sorted(names) if (folder / "tests" / name).is_dir()]


def failed(folder: Path, tests: list[str]) -> str:
    """Return the first test that fails, or why the run did not end well; empty where all pass."""
    try:
        done = subprocess.run(
            [*PYTEST, *tests], cwd=folder, timeout=SECONDS, capture_output=True, text=True, check=False
        )
    except subprocess.TimeoutExpired:
        return "does not end"
    if done.returncode in (0, 5):
        return ""
    named = re.search(r"^(?:FAILED|ERROR) (\S+?)(?:\[| |$)", done.stdout, re.MULTILINE)
    return named[1].removeprefix("tests/") if named else done.stdout[-200:]


@contextmanager
def made(folder: Path, name: str) -> Iterator[Path]:
    """Make a mistake in a worktree while the context lasts; yield the file."""
    old, new = MISTAKES[name]
    texts = sources(folder)
    path = place(texts, old)
    if path is None:
        sys.exit(f"{name}: the text stands nowhere, or in more than one place: {old}")
    path.write_text(texts[path].replace(old, new))
    try:
        yield path
    finally:
        path.write_text(texts[path])


def main() -> None:
    """Make the mistakes; print what finds each, and exit with 1 where nothing does."""
    parser = argparse.ArgumentParser(prog="mistakes")
    parser.add_argument(
        "--only",
        metavar="MISTAKE",
        action="append",
        choices=MISTAKES,
        help="may be given several times; without it, all",
    )
    names = parser.parse_args().only or list(MISTAKES)
    not_found = []
    with worktree() as folder:
        for name in names:
            with made(folder, name) as path:
                tests = near(folder, path)
                found = (tests and failed(folder, tests)) or failed(folder, WHOLE)
            print(f"{name}: {found or '**nothing**'}", flush=True)
            if not found:
                not_found.append(name)
    sys.exit(bool(not_found))


@contextmanager
def worktree() -> Iterator[Path]:
    """Yield a worktree of the last commit, in a temporary folder."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "worktree"
        git("worktree", "add", "--quiet", "--detach", str(folder), "HEAD")
        try:
            yield folder
        finally:
            git("worktree", "remove", "--force", str(folder))


if __name__ == "__main__":
    main()
