"""What params.yaml is made of: a stage takes the keys that it declares to DVC, each validated as it is taken."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from vanishing_variance.errors import InputError, shown

PATH = Path("params.yaml")


# How many of something: a whole number, at least one.
Count = Annotated[int, Field(strict=True, ge=1)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]


class Section(BaseModel):
    """A section of params.yaml: unknown keys are refused, and nothing is coerced from text or truth values."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


def take(document: Mapping[str, Any], key: str, kind: Any) -> Any:
    """The value at the dotted `key`, validated as `kind`.

    Raises InputError, one line that names the key, its value and what is allowed.
    """
    value: Any = document
    seen = ""
    for part in key.split("."):
        if not isinstance(value, Mapping):
            raise InputError(f"{PATH}: {seen} is {shown(value)}; must be a mapping with the key {part}")
        if part not in value:
            there = ", ".join(map(str, value)) or "nothing"
            raise InputError(f"{PATH}: {key} is missing; {seen or 'the file'} has: {there}")
        value, seen = value[part], f"{seen}.{part}".lstrip(".")
    try:
        return TypeAdapter(kind).validate_python(value)
    except ValidationError as problem:
        raise InputError(f"{PATH}: {explained(problem, key, kind)}") from None


def explained(problem: ValidationError, key: str, kind: Any) -> str:
    """The first thing that is wrong, in one line."""
    first = problem.errors(include_url=False)[0]
    where = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"])
    name = f"{key}{where}"
    if first["type"] == "extra_forbidden":
        allowed = ", ".join(kind.model_fields) if hasattr(kind, "model_fields") else ""
        return f"{name} is {shown(first['input'])}, but there is no such key; choose from {allowed}"
    if first["type"] == "missing":
        return f"{name} is missing; it must be set"
    if first["type"] == "too_short":
        return f"{name} is {shown(first['input'])}; must have at least {first['ctx']['min_length']} entry"
    message = first["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
    return f"{name} is {shown(first['input'])}; must be {message}"
