"""A run of the study: one block of seeds of one variant, from a stage's arguments, and its folders."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from vanishing_variance.harness.errors import shown
from vanishing_variance.harness.paths import RUNS
from vanishing_variance.harness.script import Arguments

# The paper's network, trained by this engine.
PAPER = "paper"
NAMES = ("task", "range", "attention", "norm")


@dataclass(frozen=True)
class Run:
    """One block of seeds of one variant."""

    task: str
    range: str
    norm: str
    block: int
    attention: str = "softmax"

    def folder(self, kind: str) -> Path:
        """Return the run's folder of a kind: trained, checkpoints, evaluated, interventions, proposition."""
        return RUNS / kind / self.attention / self.norm / self.range / f"{self.task}-{self.block}"

    @property
    def weights(self) -> Path:
        """The trained weights."""
        return self.folder("trained") / "weights.safetensors"

    @property
    def losses(self) -> Path:
        """The training losses."""
        return self.folder("trained") / "losses.parquet"

    def __str__(self) -> str:
        return f"{self.task}-{self.range}-{self.attention}-{self.norm}-{self.block}"


def block_of_variant(description: str) -> Run:
    """Return the run that the arguments name; paths can be built of its names.

    Exit with code 2 on anything else than names and a number. Which names are known, the registry and params.yaml say.
    """
    return Run(**_parsed(description, NAMES))


def block_and_partner(description: str) -> tuple[Run, Run]:
    """Return the run that the arguments name, and the same of the normaliser `--partner`."""
    names = _parsed(description, (*NAMES, "partner"))
    partner = names.pop("partner")
    this = Run(**names)
    return this, replace(this, norm=partner)


def _parsed(description: str, options: Sequence[str]) -> dict[str, Any]:
    parser = Arguments(description=description, allow_abbrev=False)
    for option in options:
        parser.add_argument(f"--{option}", required=True)
    parser.add_argument("--block", type=int, required=True)
    chosen = parser.parse_args()
    for option in options:
        name = getattr(chosen, option)
        if not re.fullmatch("[a-z][a-z0-9_]*", name):
            parser.error(f"argument --{option}: {shown(name)} must be a name of a-z, 0-9 and _")
    if not 0 <= chosen.block < 2**31:
        parser.error(f"argument --block: {shown(chosen.block)} must be a number from 0 to {2**31 - 1}")
    return vars(chosen)
