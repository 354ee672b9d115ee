"""The study at the scale of tests/smoke.yaml: what of params.yaml is tried there, and what a run of it says."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

# What is run, not how much of it: these keep their meaning at any scale.
WHAT = (
    *("norm", "seed", "figures.task", "training.weight_decay"),
    *("model.epsilon", "model.gelu", "model.initialisation", "model.attention_biases"),
)
# Of the output of a stage that failed, the last lines, and of a line at most so many characters.
LINES, WIDTH = 20, 300


@dataclass(frozen=True)
class Reproduced:
    """A `dvc repro`: the stages that ran; where it failed, the stage ("" where DVC itself did) and its last lines."""

    ran: list[str]
    failed: str | None
    lines: list[str]


def settings(params: Mapping[str, Any], smoke: Mapping[str, Any]) -> dict[str, Any]:
    """What is run, by dotted key: the values of `params` for those keys that the smoke scale has too."""
    return {key: at(params, key) for key in WHAT if at(params, key) is not None and at(smoke, key) is not None}


def untried(changed: Collection[str]) -> list[str]:
    """The changed parameters that the smoke scale has its own values for."""
    return [key for key in changed if key not in WHAT]


def at(document: Any, key: str) -> Any:
    """The value at a dotted key; None where there is none."""
    for part in key.split("."):
        document = document.get(part) if isinstance(document, Mapping) else None
    return document


def reproduced(printed: str, exit_code: int) -> Reproduced:
    """What DVC printed, read. Terminal colours and overwritten lines of progress are left out."""
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", printed)
    lines = [line.rpartition("\r")[2] for line in plain.replace("\r\n", "\n").split("\n")]
    starts = [place for place, line in enumerate(lines) if re.fullmatch(r"Running stage '.*':", line)]
    ran = [lines[place].removeprefix("Running stage '").removesuffix("':") for place in starts]
    if exit_code == 0:
        return Reproduced(ran, None, [])
    named = re.search(r"failed to reproduce '(.*?)'", plain)
    stage = named[1] if named else ""
    from_here = starts[-1] if starts and ran[-1] == stage else 0
    said = [line[:WIDTH] for line in lines[from_here:] if line.strip()]
    return Reproduced(ran, stage, said[-LINES:])
