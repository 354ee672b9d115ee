"""The modules whose annotations are checked in the tests."""

from pathlib import Path

SOURCES = Path(__file__).resolve().parents[1] / "src"


def with_shapes():
    """The names of all modules whose annotations have shapes."""
    found = []
    for path in sorted(SOURCES.glob("vanishing_variance/**/*.py")):
        if "from jaxtyping import" in path.read_text(encoding="utf-8"):
            found.append(".".join(path.relative_to(SOURCES).with_suffix("").parts))
    return found
