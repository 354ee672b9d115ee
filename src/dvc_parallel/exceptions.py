"""Mistakes of the user's, and the one line that tells of each."""

from typing import Any


class UsageError(Exception):
    """A bad argument or file. The message is one line that says what is allowed; exit code 2."""

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))


class StageError(Exception):
    """A stage that fails, or that DVC cannot begin or record; the message says why."""


class BusyError(Exception):
    """A stage whose files another DVC has locked; the message says which process."""


def shown(value: Any) -> str:
    """Return a value as it stands in an error: one line, shortened."""
    return one_line(repr(value), 80)


def one_line(text: str, longest: int = 1000) -> str:
    """Return a text without line breaks and control characters, shortened where it is longer than `longest`."""
    words = " ".join(text.split())
    printable = "".join(letter if letter.isprintable() else "?" for letter in words)
    return printable if len(printable) <= longest else f"{printable[: longest - 3]}..."
