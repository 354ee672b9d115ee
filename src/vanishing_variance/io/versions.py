"""Which versions are installed here, without importing what they are of."""

import platform
from collections.abc import Iterable
from importlib.metadata import version


def versions(packages: Iterable[str]) -> dict[str, str]:
    """The version of Python, and of each package, in that order."""
    return {"python": platform.python_version(), **{name: version(name) for name in packages}}
