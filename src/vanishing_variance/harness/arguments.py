"""Arguments of the stages that work on one block of one variant."""

import re

from vanishing_variance.engine import registry
from vanishing_variance.harness.errors import shown
from vanishing_variance.harness.paths import Run
from vanishing_variance.harness.script import Arguments


def block_of_variant(description: str) -> Run:
    """Return the run that `--task`, `--range`, `--norm` and `--block` name, checked before a path is built of them.

    Exit with code 2 on an unknown task or norm; which ranges there are, params.yaml decides.
    """
    parser = Arguments(description=description, allow_abbrev=False)
    for name in ("task", "range", "norm"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--block", type=int, required=True)
    chosen = parser.parse_args()
    for name, known in (("task", registry.task_names()), ("norm", registry.norm_names())):
        if getattr(chosen, name) not in known:
            said = shown(getattr(chosen, name))
            parser.error(f"argument --{name}: {said} is unknown; choose from {', '.join(known)}")
    if not re.fullmatch("[a-z]+", chosen.range):
        parser.error(f"argument --range: {shown(chosen.range)} must be a key of ranges in params.yaml")
    if not 0 <= chosen.block < 2**31:
        parser.error(f"argument --block: {shown(chosen.block)} must be a number from 0 to {2**31 - 1}")
    return Run(chosen.task, chosen.range, chosen.norm, chosen.block)
