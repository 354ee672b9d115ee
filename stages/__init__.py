"""The stages of the pipeline, one script each, run from the root as `python -m stages.<name>`.

This checkout's own source comes first on the path, so that DVC's temporary copies run their own code.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))
