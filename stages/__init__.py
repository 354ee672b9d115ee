"""The stages of the pipeline, one script each, run from the root as `python -m stages.<name>`.

This checkout's own source comes first on the path, so that DVC's temporary copies run their own code. Where `python`
is one without this project's packages, the stage goes on with that of `.venv`, which need not be active. A stage that
is interrupted says so in one line, whatever it is doing; and it ends when the DVC that started it has ended.
"""

import importlib.util
import os
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType

ROOT = Path(__file__).resolve().parents[1]
# Some of pyproject.toml's packages, of which a Python that was not set up for this project lacks one.
PACKAGES = ("filelock", "jaxtyping", "pydantic", "ruamel", "torch")
SWITCHED = "VANISHING_VARIANCE_SWITCHED"


# Python 3.7 must understand the file as far as the call of this: `python` may be that old.
def _switch() -> None:
    """Replace a process whose Python cannot run the stages by one of `.venv`, or exit with one line, code 2."""
    switched = os.environ.pop(SWITCHED, None)
    problems = [f"has no package {name}" for name in PACKAGES if importlib.util.find_spec(name) is None]
    if sys.version_info < (3, 11):  # noqa: UP036
        problems = ["is older than Python 3.11"]
    if not problems or sys.argv[:1] != ["-m"]:
        return
    # a temporary copy of DVC's has no .venv; there DVC_ROOT is the checkout that it is a copy of
    for folder in (ROOT, Path(os.environ.get("DVC_ROOT", ROOT))):
        python = str(folder / ".venv/bin/python")
        if not switched:
            os.environ[SWITCHED] = "1"
            with suppress(OSError):  # there is none, or one of another machine
                os.execv(python, [python, *_command_line()[1:]])  # noqa: S606
    advice = "run `make repro`, which sets up .venv, or activate the environment: source .venv/bin/activate"
    print(f"error: {sys.executable} {problems[0]}; {advice}", file=sys.stderr)
    sys.exit(2)


def _command_line() -> "list[str]":
    """Return the words that this process was started with, as sys.orig_argv has them from Python 3.10 on."""
    if hasattr(sys, "orig_argv"):
        return sys.orig_argv
    import ctypes  # noqa: PLC0415 -- for an old Python alone

    count, words = ctypes.c_int(), ctypes.POINTER(ctypes.c_wchar_p)()
    ctypes.pythonapi.Py_GetArgcArgv(ctypes.byref(count), ctypes.byref(words))
    return [str(words[index]) for index in range(count.value)]


_switch()
sys.path.insert(0, str(ROOT / "src"))


def _hook(kind: type[BaseException], problem: BaseException, trace: TracebackType | None) -> None:
    if issubclass(kind, KeyboardInterrupt):
        print("interrupted: the same command goes on from here", file=sys.stderr)
    else:
        sys.__excepthook__(kind, problem, trace)


def _end_with(parent: int) -> None:
    """DVC that is killed leaves its stage running, which would write under the feet of the next run."""
    while os.getppid() == parent:
        time.sleep(0.1)
    os._exit(1)


sys.excepthook = _hook
if "DVC_STAGE" in os.environ and hasattr(os, "getppid"):
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()
