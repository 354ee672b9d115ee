"""Small C sources, compiled for this machine where it has a C compiler; libraries are kept in the user's cache."""

import ctypes
import hashlib
import os
import platform
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from torch import Tensor

from vanishing_variance.harness import paths
from vanishing_variance.harness.errors import InputError, one_line
from vanishing_variance.harness.files import write_bytes
from vanishing_variance.harness.machine import cpuinfo
from vanishing_variance.harness.progress import say

# No option that lets the compiler assume that there is no infinity, no NaN, or that sums may be reordered at will.
FLAGS = ("-std=c11", "-O3", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast", "-fopenmp-simd")
# The types of arguments: an array, and a number of things.
POINTER, COUNT = ctypes.c_void_p, ctypes.c_int64


def compiled(source: Path, **definitions: int) -> ctypes.CDLL | None:
    """Return the library of one C source with preprocessor `definitions`; None, and a line that says why, without one.

    By the first that can of $CC, cc, gcc and clang. Compiled once for each source, definitions, compiler and processor,
    and found again by all of these: a home directory may be shared by different machines. Where there is no cache that
    can be written, each process compiles it.
    """
    why = "there is no C compiler"
    for compiler in _compilers():
        try:
            return _compiled_by(compiler, source, definitions)
        except subprocess.CalledProcessError as problem:
            why = problem.stderr.decode(errors="replace") or str(problem)
        except OSError as problem:
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
    name = f"{source.stem}-{_fingerprint(source, compiler, command)}"
    if kept := _kept(name):
        return ctypes.CDLL(str(kept))
    with TemporaryDirectory() as folder:  # once it is loaded, a library needs its file no more
        library = Path(folder) / "library.so"
        subprocess.run([*command, str(source), "-lm", "-o", str(library)], check=True, capture_output=True)
        content = library.read_bytes()
        with suppress(InputError, RuntimeError):  # it cannot be written, or there is no home directory
            kept = paths.cache() / f"{name}-{_digest(content)}.so"
            write_bytes(kept, content)
            library = kept
        return ctypes.CDLL(str(library))


def _kept(name: str) -> Path | None:
    """Return the library in the cache, if it is as it was written: the end of its name is its hash.

    To load one that is cut off would end the process.
    """
    with suppress(OSError, RuntimeError):  # it cannot be read, or there is no home directory
        for path in paths.cache().glob(f"{name}-*.so"):
            if path.stem == f"{name}-{_digest(path.read_bytes())}":
                return path
    return None


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def _fingerprint(source: Path, compiler: list[str], command: list[str]) -> str:
    version = subprocess.run([*compiler, "--version"], check=False, capture_output=True, text=True)
    info = cpuinfo()
    features = info.get("flags") or info.get("Features") or platform.node()
    everything = "\0".join([source.read_text(), *command, version.stdout, features])
    return _digest(everything.encode())
