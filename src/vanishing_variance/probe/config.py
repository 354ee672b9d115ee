"""The section `probe`: which pretrained transformer Figure 1 looks into, and where."""

from typing import Annotated, Any

from pydantic import AfterValidator, Field, ValidatorFunctionWrapHandler, WrapValidator

from vanishing_variance.harness.sections import Count, Lengths, Section, Several, different


def _a_line(name: str) -> str:
    if not (name.isprintable() and 1 <= len(name) <= 1000):
        raise ValueError("a line of text, at most 1,000 characters")
    return name


def _all_or_places(value: Any, places: ValidatorFunctionWrapHandler) -> Any:
    if value != "all" and not isinstance(value, list):
        raise ValueError("all, or a list of numbers that count from 0")
    return value if value == "all" else places(value)


def _three_or_more(lengths: list[int]) -> list[int]:
    if len(lengths) < 3:
        raise ValueError("at least three lengths, to fit an exponent with its interval")
    if lengths[0] < 2:
        raise ValueError("of two tokens or more: with a fixed last token, O does not vary over sequences of one")
    return lengths


Name = Annotated[str, AfterValidator(_a_line)]
Place = Annotated[int, Field(strict=True, ge=0, lt=2**31)]
Listed = Annotated[list[Place], Field(min_length=1), AfterValidator(different), WrapValidator(_all_or_places)]


class Probe(Section):
    """Measurement of Figure 1: at `lengths` (tokens), over `sequences`, the first `components` of heads of `layers`.

    `model` is a name on the Hugging Face hub, at `revision`, a directory, or SmolLM2-135M, which needs no network;
    `text` is a UTF-8 file, or pydoc_data.topics, which every Python has. The model and the text decide what else is
    allowed: vanishing_variance.probe.deviations and .sequences.
    """

    model: Name
    revision: Name | None
    text: Name
    lengths: Annotated[Lengths, AfterValidator(_three_or_more)]
    sequences: Several
    layers: Listed
    components: Count
