"""The JSON files that one stage writes and another reads, and what each holds."""

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, RootModel, TypeAdapter, ValidationError

from vanishing_variance.errors import InputError, shown
from vanishing_variance.io.files import read_json


class Document(BaseModel):
    """Nothing is coerced from text or truth values."""

    model_config = ConfigDict(strict=True)


class Fitted(Document):
    """An adaptive temperature (`model.temperature`), and to how many mistakes it was fitted."""

    polynomial: Annotated[list[FiniteFloat], Field(min_length=1, max_length=5)]
    lowest: FiniteFloat
    highest: FiniteFloat
    mistakes: int


class Fits(RootModel[dict[Literal["first", "second"], Fitted]]):
    """runs/temperature: the temperatures with which the halves of a block are tested, each fitted to the other half."""


class Compared(Document):
    """metrics/capacity.json, of each task: what `capacity.compare` says."""

    answers: int
    differ: FiniteFloat
    logits_differ: FiniteFloat
    logits_deviation: FiniteFloat


class Judged(Document):
    """metrics/claims.json, of each claim: what `claims.claim.judge` says."""

    claim: str
    where: str
    verdict: str
    ours: FiniteFloat | None
    low: FiniteFloat | None
    high: FiniteFloat | None
    paper: FiniteFloat | None
    unit: str
    n: int | None
    evidence: str
    rule: str


class Time(Document):
    """runs/times: how long a stage took, as `command.run` notes it."""

    stage: str
    seconds: FiniteFloat


def read_document(path: Path, kind: Any) -> Any:
    """What a JSON file holds, when it is of this kind. Raises InputError when it is not, or missing or damaged."""
    document = read_json(path)
    try:
        TypeAdapter(kind).validate_python(document)
    except ValidationError as problem:
        first = problem.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "it"
        what = "is missing" if first["type"] == "missing" else f"is {shown(first['input'])}: {first['msg']}"
        raise InputError(f"{path}: {where} {what}; delete it and run dvc repro") from None
    return document
