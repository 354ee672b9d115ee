"""The figures, one file each: `data(...)` makes the tidy frame that is drawn, `draw(data)` the figure."""

import os
import sys
from contextlib import suppress

BACKEND = os.environ.get("MPLBACKEND")
# A notebook's `!make demo` inherits a backend that may not be installed here, and matplotlib would not be imported.
# Agg draws files whichever it is; where it is there, a notebook keeps it.
if BACKEND and "matplotlib" not in sys.modules:
    del os.environ["MPLBACKEND"]
    import matplotlib as mpl

    with suppress(ValueError):
        mpl.rcParams["backend"] = BACKEND
    os.environ["MPLBACKEND"] = BACKEND
