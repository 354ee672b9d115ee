"""`make bench`: ours beside what a user would write, in one run. Uses this checkout's own source, as the stages do."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "src"))
