"""Small C sources, compiled for this machine where it has a C compiler; the results are kept in the user's cache."""

import ctypes
import hashlib
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

from vanishing_variance.io.files import write

# No option that lets the compiler assume that there is no infinity, no NaN, or that sums may be reordered at will.
FLAGS = ("-std=c11", "-O3", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast", "-fopenmp-simd")


def compiled(source: Path, **definitions: int) -> ctypes.CDLL | None:
    """The library made of one C source with preprocessor `definitions`; None where no compiler can make it.

    Compiled once for each source, definitions, compiler and processor, and found again by all of these: a home
    directory may be shared by different machines.
    """
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None or sys.platform == "win32":
        return None
    processor = "-march=native" if platform.machine() in {"x86_64", "AMD64"} else "-mcpu=native"
    command = [compiler, *FLAGS, processor, *(f"-D{name}={value}" for name, value in sorted(definitions.items()))]
    command += ["-shared", "-fPIC", str(source), "-lm", "-o"]
    library = _cache() / f"{source.stem}-{_fingerprint(source, command)}.so"
    try:
        if not library.exists():
            write(library, lambda to: subprocess.run([*command, str(to)], check=True, capture_output=True))
        return ctypes.CDLL(str(library))
    except (OSError, subprocess.CalledProcessError):
        return None


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "vanishing-variance"


def _fingerprint(source: Path, command: list[str]) -> str:
    version = subprocess.run([command[0], "--version"], check=False, capture_output=True, text=True).stdout
    features = Path("/proc/cpuinfo")
    lines = features.read_text().splitlines() if features.exists() else []
    cpu = next((line for line in lines if line.lower().startswith(("flags", "features"))), platform.processor())
    return hashlib.sha256("\0".join([source.read_text(), *command, version, cpu]).encode()).hexdigest()[:16]
