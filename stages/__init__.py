"""The stages of the pipeline, one script each, run from the root as `python -m stages.<name>`.

This checkout's own source comes first on the path, so that DVC's temporary copies run their own code. A stage that is
interrupted says so in one line, whatever it is doing; it ends when the DVC that started it has ended; and it fails when
its sources were edited meanwhile.
"""

import sys


def _hook(kind: type[BaseException], problem: BaseException, trace: object) -> None:
    if issubclass(kind, KeyboardInterrupt):
        print("interrupted: the same command goes on from here", file=sys.stderr)
    else:
        sys.__excepthook__(kind, problem, trace)  # type: ignore[arg-type]


sys.excepthook = _hook

# ruff: noqa: E402 (Ctrl-C may come during an import, too)
import importlib.util
import os
import signal
from pathlib import Path

if os.getpid() == 1:  # a container's first process, which no signal ends that it does not handle
    signal.signal(signal.SIGTERM, lambda *_: os._exit(128 + signal.SIGTERM))

ROOT = Path(__file__).resolve().parents[1]
# Some of pyproject.toml's packages, of which a Python that was not set up for this project lacks one.
PACKAGES = ("jaxtyping", "pydantic", "torch")

missing = [name for name in PACKAGES if importlib.util.find_spec(name) is None]
if missing:
    advice = "run `make repro`, which sets up .venv, or activate it: source .venv/bin/activate"
    print(f"error: {sys.executable} has no package {missing[0]}; {advice}", file=sys.stderr)
    sys.exit(2)
sys.path.insert(0, str(ROOT / "src"))

from vanishing_variance.harness.edits import note_sources
from vanishing_variance.harness.parent import end_with

note_sources(ROOT / "src/vanishing_variance", ROOT / "stages")
if "DVC_STAGE" in os.environ:  # DVC that is killed leaves its stage running
    end_with(os.getppid())
