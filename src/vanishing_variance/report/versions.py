"""The versions that the results were made with."""

import re
from collections.abc import Iterable


def pinned(constraints: str, packages: Iterable[str]) -> dict[str, str]:
    """The version of each package in the text of constraints.txt, in that order; what is not pinned is left out."""
    versions = dict(re.findall(r"^([\w.-]+)==(\S+)", constraints, re.MULTILINE))
    return {name: versions[name] for name in packages if name in versions}
