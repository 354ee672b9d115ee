"""The figures, one file each: `data(...)` makes the tidy frame that is drawn, `draw(data)` the figure."""

import os
from importlib.util import find_spec

# A notebook's `!make demo` inherits its backend, without which, where it is not installed, matplotlib is not imported.
if "matplotlib_inline" in os.environ.get("MPLBACKEND", "") and not find_spec("matplotlib_inline"):
    del os.environ["MPLBACKEND"]
