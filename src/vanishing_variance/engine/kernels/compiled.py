"""Small C sources, compiled for this machine where it has a C compiler; the results are kept in the user's cache."""

import ctypes
import hashlib
import platform
import shutil
import subprocess
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

from vanishing_variance.harness import paths
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.files import write

# No option that lets the compiler assume that there is no infinity, no NaN, or that sums may be reordered at will.
FLAGS = ("-std=c11", "-O3", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast", "-fopenmp-simd")


def compiled(source: Path, **definitions: int) -> ctypes.CDLL | None:
    """Return the library of one C source with preprocessor `definitions`; None, and a line that says why, without one.

    Compiled once for each source, definitions, compiler and processor, and found again by all of these: a home
    directory may be shared by different machines.
    """
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        return _without(source, "there is no C compiler")
    processor = "-march=native" if platform.machine() in {"x86_64", "AMD64"} else "-mcpu=native"
    command = [compiler, *FLAGS, processor, *(f"-D{name}={value}" for name, value in sorted(definitions.items()))]
    command += ["-shared", "-fPIC"]
    try:
        library = paths.cache() / f"{source.stem}-{_fingerprint(source, command)}.so"
        if library.exists():
            with suppress(OSError):  # a damaged one is compiled anew
                return ctypes.CDLL(str(library))
        files = [str(source), "-lm", "-o"]
        write(library, lambda to: subprocess.run([*command, *files, str(to)], check=True, capture_output=True))
        return ctypes.CDLL(str(library))
    except subprocess.CalledProcessError as problem:
        lines = problem.stderr.decode(errors="replace").splitlines() or ["the compiler failed"]
        return _without(source, next((line for line in lines if "error" in line), lines[0]))
    except (OSError, RuntimeError, InputError) as problem:
        return _without(source, str(problem))


def _without(source: Path, why: str) -> ctypes.CDLL | None:
    print(f"{source.name} is not compiled, falling back to torch (slower): {why}", file=sys.stderr, flush=True)
    return None


@cache
def vendor() -> str:
    """Return the maker of the processor as it names itself, such as GenuineIntel; empty where that is not known."""
    return next((line.partition(":")[2].strip() for line in _cpuinfo() if line.startswith("vendor_id")), "")


def _cpuinfo() -> list[str]:
    info = Path("/proc/cpuinfo")
    return info.read_text().splitlines() if info.exists() else []


def _fingerprint(source: Path, command: list[str]) -> str:
    version = subprocess.run([command[0], "--version"], check=False, capture_output=True, text=True).stdout
    cpu = next((line for line in _cpuinfo() if line.lower().startswith(("flags", "features"))), platform.node())
    return hashlib.sha256("\0".join([source.read_text(), *command, version, cpu]).encode()).hexdigest()[:16]
