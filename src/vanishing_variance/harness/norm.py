"""The key `norm`: the treatment, which is compared with no normaliser at all."""

from typing import Annotated, Any

from pydantic import BeforeValidator

from vanishing_variance.engine import registry


def _known(norm: Any) -> Any:
    choices = [name for name in registry.norm_names() if name != "none"]
    if norm not in choices:
        why = " (none is what every treatment is compared with)" if norm == "none" else ""
        raise ValueError(f"one of {', '.join(choices)}{why}")
    return norm


Norm = Annotated[str, BeforeValidator(_known)]
