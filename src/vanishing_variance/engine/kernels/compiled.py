"""Small C sources, compiled for this machine where it has a C compiler; the results are kept in the user's cache."""

import ctypes
import hashlib
import os
import platform
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from functools import cache, partial
from pathlib import Path

import torch
from torch import Tensor

from vanishing_variance.harness import paths
from vanishing_variance.harness.errors import InputError, one_line
from vanishing_variance.harness.files import write
from vanishing_variance.harness.machine import cpuinfo
from vanishing_variance.harness.progress import say

# No option that lets the compiler assume that there is no infinity, no NaN, or that sums may be reordered at will.
FLAGS = ("-std=c11", "-O3", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast", "-fopenmp-simd")
# The types of arguments: an array, and a number of things.
POINTER, COUNT = ctypes.c_void_p, ctypes.c_int64


def compiled(source: Path, **definitions: int) -> ctypes.CDLL | None:
    """Return the library of one C source with preprocessor `definitions`; None, and a line that says why, without one.

    By the first that can of $CC, cc, gcc and clang. Compiled once for each source, definitions, compiler and processor,
    and found again by all of these: a home directory may be shared by different machines.
    """
    why = "there is no C compiler"
    for compiler in _compilers():
        try:
            return _compiled_by(compiler, source, definitions)
        except subprocess.CalledProcessError as problem:
            why = problem.stderr.decode(errors="replace") or str(problem)
        except (OSError, RuntimeError, InputError) as problem:  # no home directory, or a cache that cannot be written
            why = str(problem)
    message = f"{source.name} is not compiled, falling back to torch (slower): {why}"
    say(one_line(message, 300))
    return None


def in_single_on_cpu(*tensors: Tensor) -> bool:
    """Return whether all are what compiled sources compute with: float32, on a CPU."""
    return all(tensor.device.type == "cpu" and tensor.dtype == torch.float32 for tensor in tensors)


@cache
def vendor() -> str:
    """Return the maker of the processor as it names itself, such as GenuineIntel; empty where that is not known."""
    return cpuinfo().get("vendor_id", "")


def _compilers() -> Iterator[list[str]]:
    """Yield the command of each C compiler that there is; $CC may have options."""
    for command in (os.environ.get("CC", ""), "cc", "gcc", "clang"):
        name, *options = command.split() or [""]
        if path := shutil.which(name):
            yield [path, *options]


def _compiled_by(compiler: list[str], source: Path, definitions: Mapping[str, int]) -> ctypes.CDLL:
    processor = "-march=native" if platform.machine() in {"x86_64", "AMD64"} else "-mcpu=native"
    defined = [f"-D{name}={value}" for name, value in sorted(definitions.items())]
    command = [*compiler, *FLAGS, processor, *defined, "-shared", "-fPIC"]
    library = paths.cache() / f"{source.stem}-{_fingerprint(source, compiler, command)}.so"
    if not library.exists():
        write(library, partial(_compile, [*command, str(source), "-lm", "-o"]))
    return ctypes.CDLL(str(library))


def _compile(command: list[str], to: Path) -> None:
    subprocess.run([*command, str(to)], check=True, capture_output=True)


def _fingerprint(source: Path, compiler: list[str], command: list[str]) -> str:
    version = subprocess.run([*compiler, "--version"], check=False, capture_output=True, text=True)
    info = cpuinfo()
    features = info.get("flags") or info.get("Features") or platform.node()
    everything = "\0".join([source.read_text(), *command, version.stdout, features])
    return hashlib.sha256(everything.encode()).hexdigest()[:16]
