"""Mistakes of the user's, and the one line that tells of each."""

from typing import Any


class InputError(Exception):
    """A bad argument or file, or a full disk. The message is one line that says what is allowed; exit code 2."""

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))


def shown(value: Any) -> str:
    """Return a value as it stands in an error: one line, shortened."""
    return one_line(repr(value), 80)


def one_line(text: str, longest: int = 1000) -> str:
    """Return a text without line breaks and control characters, shortened where it is longer than `longest`."""
    text = "".join(one if one.isprintable() else ascii(one)[1:-1] for one in " ".join(text.split()))
    return text if len(text) <= longest else f"{text[: longest - 3]}..."
