"""Whole numbers that a caller gives."""

import operator
from typing import Any

from vanishing_variance.harness.errors import InputError, shown


def count(name: str, value: Any) -> int:
    """Return a whole number from 1 on. Raises InputError where it is none."""
    try:
        number = whole(value)
    except TypeError:
        number = 0
    if not 1 <= number < 2**31:
        raise InputError(f"{name} is {shown(value)}; must be a whole number from 1 on")
    return number


def whole_numbers(name: str, values: Any, least: int, most: int, example: str) -> list[int]:
    """Return different whole numbers. Raises InputError where they are not."""
    try:
        numbers = [whole(value) for value in values]
    except TypeError:
        numbers = []
    if not numbers or len(set(numbers)) < len(numbers) or min(numbers) < least or max(numbers) > most:
        allowed = f"different whole numbers from {least} to {most}, such as {example}"
        raise InputError(f"{name} is {shown(values)}; must be {allowed}")
    return numbers


def whole(value: Any) -> int:
    """Return a whole number, one of numpy as Python's. Raises TypeError for anything else, a truth value too."""
    if isinstance(value, bool):
        raise TypeError
    return operator.index(value)
