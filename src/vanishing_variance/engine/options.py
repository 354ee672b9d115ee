"""Options of a choice: the keyword arguments of its class."""

import inspect
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, get_type_hints

from pydantic import ConfigDict, PydanticUserError, TypeAdapter, ValidationError

from vanishing_variance.harness.errors import InputError, shown


def kinds(kind: type, given: int = 0) -> dict[str, inspect.Parameter]:
    """Return the options of a class by name: its constructor's parameters after self and the first `given`."""
    return dict(list(inspect.signature(kind.__init__).parameters.items())[1 + given :])  # type: ignore[misc]


def checked(what: str, kind: type, options: Mapping[str, Any], given: int = 0) -> dict[str, Any]:
    """Return the options, each of its annotated type. Raises InputError, which names what the class takes."""
    parameters = kinds(kind, given)
    try:
        annotations = get_type_hints(kind.__init__)  # type: ignore[misc]
    except NameError:  # of a class within a function, where annotations are texts
        annotations = {}
    values = {}
    for key, value in options.items():
        if key not in parameters:
            taken = ", ".join(parameters) or "none"
            raise InputError(f"{what} has no option {shown(key)}; its options: {taken}")
        try:
            checked = _adapter(annotations.get(key, Any)).validate_python(value, strict=True)
        except ValidationError as problem:
            message = problem.errors()[0]["msg"].removeprefix("Input should be ")
            raise InputError(f"{what}: option {key} is {shown(value)}; must be {message}") from None
        # of other kinds pydantic returns another object, of a plainer class
        values[key] = checked if isinstance(value, int | float) else value
    return values


def _adapter(annotation: Any) -> TypeAdapter[Any]:
    """Return what checks values of a type, which may be any class."""
    try:
        return TypeAdapter(annotation, config=ConfigDict(arbitrary_types_allowed=True))
    except PydanticUserError:  # of a dataclass and the like, whose settings are its own
        with suppress(PydanticUserError):
            return TypeAdapter(annotation)
        return TypeAdapter(Any)
