"""Errors that the user can mend, as one line each."""

from typing import Any


class InputError(Exception):
    """A bad parameter, argument or file. The message is one line that names it and what is allowed; exit code 2."""

    def __init__(self, message: str) -> None:
        super().__init__(one_line(message))


class TooLargeError(InputError):
    """Memory does not hold the smallest part of the work."""


class DivergedError(Exception):
    """A training loss that is no longer a number. The message names seed, step and variant; exit code 3."""


def shown(value: Any) -> str:
    """Return a value as it stands in an error: one line, shortened."""
    try:
        return one_line(repr(value), 80)
    except (ValueError, RecursionError):  # an integer of thousands of digits; thousands of lists within each other
        return f"a {type(value).__name__} too large to show"


def one_line(text: str, longest: int = 1000) -> str:
    """Return a text without line breaks and control characters, shortened where it is longer than `longest`."""
    words = " ".join(text[: 10 * longest].split())
    printable = "".join(character if character.isprintable() else ascii(character)[1:-1] for character in words)
    if len(printable) > longest:
        return f"{printable[: longest - 3]}..."
    return printable
