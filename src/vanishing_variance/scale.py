"""The default scale and the paper's: what differs between them in params.yaml."""

from typing import Any

from vanishing_variance.errors import InputError

SCALES: dict[str, dict[str, Any]] = {
    "default": {
        "blocks": [0],
        "seeds_per_block": 8,
        "tasks.argmax.training.steps": 4_000,
        "tasks.dictionary.training.steps": 10_000,
        "test.sequences": 512,
        "diagnostics.sequences": 2_048,
    },
    # 100 seeds; 4,096 test sequences, which the paper does not state: all seeds share them, so their error stays
    "paper": {
        "blocks": [0, 1, 2, 3],
        "seeds_per_block": 25,
        "tasks.argmax.training.steps": 100_000,
        "tasks.dictionary.training.steps": 10_000,
        "test.sequences": 4_096,
        "diagnostics.sequences": 32_000,
    },
}


def scale(name: str) -> dict[str, Any]:
    """The values by dotted key. Raises InputError, which lists the scales, for an unknown one."""
    if name not in SCALES:
        raise InputError(f"scale: {name!r} is unknown; choose from {', '.join(SCALES)}")
    return SCALES[name]
