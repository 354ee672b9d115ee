"""Print how large the project is: lines and syntax nodes of code, words of pages, files and bytes in git."""

import ast
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CODE = ("src/vanishing_variance", "src/dvc_parallel", "src/results_review", "stages", "studies", "benchmarks", "tests")
PAGES = ("README.md", "docs")
RESULTS = ("metrics", "plots", "studies")


def in_git(*folders: str) -> list[Path]:
    """Return the files in git below some folders, or all."""
    listed = subprocess.run(["git", "ls-files", "-z", *folders], cwd=ROOT, check=True, capture_output=True, text=True)
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).exists()]


def nodes_a_line(paths: list[Path]) -> float:
    """Return the syntax nodes of function bodies, but for docstrings, over their lines."""
    nodes = lines = 0
    for path in paths:
        for function in ast.walk(ast.parse(path.read_text())):
            if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                continue
            body = function.body[1:] if ast.get_docstring(function) else function.body
            for statement in body:
                nodes += sum(1 for _ in ast.walk(statement))
                lines += statement.end_lineno - statement.lineno + 1
    return nodes / lines


def main() -> None:
    for folder in CODE:
        sources = [path for path in in_git(folder) if path.suffix in {".py", ".c"}]
        lines = sum(len(path.read_text().splitlines()) for path in sources)
        print(f"{folder}: {lines} lines in {len(sources)} files")
    python = [path for path in in_git("src") if path.suffix == ".py"]
    print(f"src: {nodes_a_line(python):.1f} syntax nodes a line of functions")
    words = sum(len(path.read_text().split()) for path in in_git(*PAGES) if path.suffix == ".md")
    print(f"README.md and docs: {words} words")
    megabytes = sum(path.stat().st_size for path in in_git(*RESULTS)) / 1e6
    print(f"{', '.join(RESULTS)}: {megabytes:.1f} MB")
    print(f"in git: {len(in_git())} files")


if __name__ == "__main__":
    main()
