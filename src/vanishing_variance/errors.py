"""What can go wrong through the user's doing, and what it says."""

from typing import Any


class InputError(Exception):
    """A bad parameter, argument or file. The message is one line that names it and what is allowed; exit code 2."""


class DivergedError(Exception):
    """A training loss that is no longer a number. The message names seed, step and variant; exit code 3."""


def shown(value: Any) -> str:
    """A value as it stands in an error: one line, shortened."""
    text = " ".join(repr(value).split())
    return text if len(text) <= 80 else f"{text[:77]}..."
