"""Size and density of Python code: python tests/size.py [FOLDER ...].

A folder's lines, and the syntax nodes (`ast`) of its functions' bodies without docstrings, in all and for each line of
them that is neither blank nor a comment. Of another project the same: give its folder.
"""

import ast
import sys
from pathlib import Path

FOLDERS = ("src/vanishing_variance", "src/dvc_parallel", "src/results_review", "stages", "benchmarks", "tests")


def bodies(tree):
    """Yield the statements of every function that is in no other function, docstrings left out."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from node.body[ast.get_docstring(node, clean=False) is not None :]
        else:
            yield from bodies(node)


def nodes_and_lines(source):
    """Return how many syntax nodes the functions of a source have, and on how many lines that are no comment."""
    lines = source.splitlines()
    nodes = code = 0
    for statement in bodies(ast.parse(source)):
        nodes += sum(1 for _ in ast.walk(statement))
        texts = (line.strip() for line in lines[statement.lineno - 1 : statement.end_lineno])
        code += sum(1 for text in texts if text and not text.startswith("#"))
    return nodes, code


def main():
    """Print a row a folder."""
    print(f"{'folder':40} {'files':>6} {'lines':>7} {'nodes':>8} {'a line':>7}")
    for folder in sys.argv[1:] or FOLDERS:
        paths = [path for path in Path(folder).rglob("*") if path.suffix in {".py", ".c", ".h"}]
        lines = sum(len(path.read_text().splitlines()) for path in paths)
        counted = [nodes_and_lines(path.read_text()) for path in paths if path.suffix == ".py"]
        nodes, of_code = (sum(numbers) for numbers in zip(*counted, strict=True))
        print(f"{folder:40} {len(paths):6} {lines:7} {nodes:8} {nodes / of_code:7.1f}")


if __name__ == "__main__":
    main()
