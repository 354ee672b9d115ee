"""Parameters: a stage gets the keys of params.yaml that it declares to DVC, each validated."""

import sys
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, get_args

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from vanishing_variance.harness.errors import InputError, one_line, shown

PATH = Path("params.yaml")

# How many of something: a whole number in 32 bits, at least one, or at least two.
Count = Annotated[int, Field(strict=True, ge=1, lt=2**31)]
Several = Annotated[int, Field(strict=True, ge=2, lt=2**31)]
# Numbers that single precision holds, with room for what they are multiplied with.
Positive = Annotated[float, Field(strict=True, gt=0, le=1e6, allow_inf_nan=False)]
NotNegative = Annotated[float, Field(strict=True, ge=0, le=1e6, allow_inf_nan=False)]


def increasing(numbers: list[int]) -> list[int]:
    """Return the numbers. Raises ValueError unless each is larger than the one before."""
    if any(later <= earlier for earlier, later in pairwise(numbers)):
        raise ValueError("strictly increasing")
    return numbers


def different(values: list[Any]) -> list[Any]:
    """Return the values, which all differ. Raises ValueError for a repeated one."""
    if len(set(values)) < len(values):
        raise ValueError("without a value named twice")
    return values


# Items of a sequence, at most.
LONGEST = 2**24
Length = Annotated[int, Field(strict=True, ge=1, le=LONGEST)]
Lengths = Annotated[list[Length], Field(min_length=1), AfterValidator(increasing)]


class Section(BaseModel):
    """A section of params.yaml: unknown keys are refused, and nothing is coerced from text or truth values."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


def get_param(document: Mapping[str, Any], key: str, kind: Any) -> Any:
    """Return the value at the dotted `key`, validated as `kind`.

    Raises InputError, one line that names the key, its value and what is allowed.
    """
    sys.audit("vanishing_variance.get_param", key)  # compared with what dvc.yaml declares, by tests/graph
    value: Any = document
    section = ""
    for name in key.split("."):
        if not isinstance(value, Mapping):
            raise InputError(f"{PATH}: {section} is {shown(value)}; must be a mapping with the key {name}")
        inner = f"{section}.{name}".lstrip(".")
        if name not in value:
            keys = ", ".join(map(named, value)) or "nothing"
            raise InputError(f"{PATH}: {inner} is missing; {section or 'the file'} has: {keys}")
        value = value[name]
        section = inner
    return validate(value, key, kind)


def validate(value: Any, key: str, kind: Any) -> Any:
    """Return the value at `key`, "" for the whole file, validated as `kind`. Raises InputError, as `get_param`."""
    try:
        return TypeAdapter(kind).validate_python(value)
    except ValidationError as problem:
        raise InputError(f"{PATH}: {explained(problem, key, kind)}") from None


def explained(problem: ValidationError, key: str, kind: Any) -> str:
    """Return the first thing that is wrong, in one line."""
    first = problem.errors(include_url=False)[0]
    place = first["loc"]
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{named(part)}" for part in place)
    name = f"{key}{where}".lstrip(".")
    value = shown(first["input"])
    match first["type"]:
        case "extra_forbidden" | "invalid_key":
            return f"{name} is {value}, but there is no such key; choose from {_keys(kind, place[:-1])}"
        case "missing":
            section = name.rpartition(".")[0] or "the file"
            return f"{name} is missing; {section} must have {_keys(kind, place[:-1], required=True)}"
        case "too_short":
            return f"{name} is {value}; must have at least {first['ctx']['min_length']} entry"
        case "model_type":
            return f"{name} is {value}; must be a mapping with the keys {_keys(kind, place)}"
        case "dict_type":
            return f"{name} is {value}; must be a mapping"
    message = first["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
    return f"{name} is {value}; must be {message}"


def named(key: Any) -> str:
    """Return a key as it stands in an error: text as it is, shortened."""
    return one_line(key, 60) if isinstance(key, str) and key else shown(key)


def _keys(kind: Any, place: Sequence[int | str], *, required: bool = False) -> str:
    """Return the keys of a section, or of the section within it; those that are `required` alone."""
    for part in place:
        annotation = kind.model_fields[part].annotation
        choices = (annotation, *get_args(annotation))  # of `Growth | None`
        kind = next(choice for choice in choices if hasattr(choice, "model_fields"))
    return ", ".join(name for name, field in kind.model_fields.items() if field.is_required() or not required)
