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

import torch
from torch import Tensor

from vanishing_variance.harness import paths
from vanishing_variance.harness.errors import InputError, one_line
from vanishing_variance.harness.files import write
from vanishing_variance.harness.machine import cpuinfo

# No option that lets the compiler assume that there is no infinity, no NaN, or that sums may be reordered at will.
FLAGS = ("-std=c11", "-O3", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast", "-fopenmp-simd")
# The types of arguments: an array, and a number of things.
POINTER, COUNT = ctypes.c_void_p, ctypes.c_int64


def compiled(source: Path, **definitions: int) -> ctypes.CDLL | None:
    """Return the library of one C source with preprocessor `definitions`; None, and a line that says why, without one.

    Compiled once for each source, definitions, compiler and processor, and found again by all of these: a home
    directory may be shared by different machines.
    """
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        return _without(source, "there is no C compiler")
    processor = "-march=native" if platform.machine() in {"x86_64", "AMD64"} else "-mcpu=native"
    defined = [f"-D{name}={value}" for name, value in sorted(definitions.items())]
    command = [compiler, *FLAGS, processor, *defined, "-shared", "-fPIC"]
    try:
        library = paths.cache() / f"{source.stem}-{_fingerprint(source, command)}.so"
        if library.exists():
            with suppress(OSError):  # a damaged one is compiled anew
                return ctypes.CDLL(str(library))
        files = [str(source), "-lm", "-o"]
        write(library, lambda to: subprocess.run([*command, *files, str(to)], check=True, capture_output=True))
        return ctypes.CDLL(str(library))
    except subprocess.CalledProcessError as problem:
        return _without(source, problem.stderr.decode(errors="replace"))
    except (OSError, RuntimeError, InputError) as problem:  # no home directory, or a cache that cannot be written
        return _without(source, str(problem))


def in_single_on_cpu(*tensors: Tensor) -> bool:
    """Return whether all are what compiled sources compute with: float32, on a CPU."""
    return all(tensor.device.type == "cpu" and tensor.dtype == torch.float32 for tensor in tensors)


@cache
def vendor() -> str:
    """Return the maker of the processor as it names itself, such as GenuineIntel; empty where that is not known."""
    return cpuinfo().get("vendor_id", "")


def _without(source: Path, why: str) -> ctypes.CDLL | None:
    message = f"{source.name} is not compiled, falling back to torch (slower): {why}"
    print(one_line(message, 300), file=sys.stderr, flush=True)
    return None


def _fingerprint(source: Path, command: list[str]) -> str:
    version = subprocess.run([command[0], "--version"], check=False, capture_output=True, text=True)
    info = cpuinfo()
    features = info.get("flags") or info.get("Features") or platform.node()
    everything = "\0".join([source.read_text(), *command, version.stdout, features])
    return hashlib.sha256(everything.encode()).hexdigest()[:16]
