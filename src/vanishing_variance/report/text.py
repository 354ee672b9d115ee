"""Text, as it stands in a file."""

from pathlib import Path

from vanishing_variance.harness.errors import InputError


def read_text(path: Path) -> str:
    """Return the text of a UTF-8 file. Raises InputError when it is missing or not UTF-8."""
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as problem:
        why = problem.strerror if isinstance(problem, OSError) else "not UTF-8"
        raise InputError(f"{path}: cannot be read as text: {why}; run dvc repro") from None
