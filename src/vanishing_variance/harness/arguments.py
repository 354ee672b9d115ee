"""Arguments of the stages that work on one block of one variant."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from vanishing_variance.harness.errors import shown
from vanishing_variance.harness.paths import Run
from vanishing_variance.harness.script import Arguments

NAMES = ("task", "range", "attention", "norm")


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
