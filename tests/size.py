"""Sizes of the project beside their limits.

    python tests/size.py [--check]

Lines are those that `wc -l` counts in the Python and C sources that git lists; nodes are those of the syntax trees of
all functions of the package, and are divided by the functions' lines that are not blank.
"""

import argparse
import ast
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = "src/vanishing_variance"
LINES = {PACKAGE: 12_000, "stages": 600, "studies": 250, "tests": 9_000}
FILES, WORDS, NODES = 520, 7_500, 12.2


def listed(*patterns: str) -> list[Path]:
    """Return the files of git that fit one of some patterns."""
    command = ["git", "ls-files", "-z", *(f":(glob){pattern}" for pattern in patterns)]
    names = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout
    return [path for name in filter(None, names.split("\0")) if (path := ROOT / name).is_file()]


def lines(room: str) -> int:
    """Return how many lines of source a folder has."""
    return sum(path.read_bytes().count(b"\n") for path in listed(*(f"{room}/**/*.{end}" for end in ("py", "c", "h"))))


def nodes_by_line() -> float:
    """Return how many syntax nodes the functions of the package have by the line."""
    nodes = written = 0
    for path in listed(f"{PACKAGE}/**/*.py"):
        text = path.read_text()
        for function in filter(lambda node: isinstance(node, ast.FunctionDef), ast.walk(ast.parse(text))):
            nodes += sum(1 for _ in ast.walk(function))
            body = text.splitlines()[function.lineno - 1 : function.end_lineno]
            written += sum(1 for line in body if line.strip())
    return nodes / written


def main() -> None:
    """Print the table; with --check exit with 1 where a limit is exceeded."""
    parser = argparse.ArgumentParser(prog="size")
    parser.add_argument("--check", action="store_true", help="exit with 1 where a limit is exceeded")
    check = parser.parse_args().check
    words = sum(len(path.read_text().split()) for path in listed("README.md", "docs/*.md"))
    rows = [(f"lines of {room}", lines(room), limit) for room, limit in LINES.items()]
    rows += [("files in git", len(listed("**")), FILES), ("words of README and docs", words, WORDS)]
    rows.append(("syntax nodes a line", round(nodes_by_line(), 2), NODES))
    for name, number, limit in rows:
        print(f"{name:<32}{number:>8,}{limit:>8,}{'  over' if number > limit else ''}")
    sys.exit(check and any(number > limit for _, number, limit in rows))


if __name__ == "__main__":
    main()
