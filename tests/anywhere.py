"""The tests on imitations of other processors.

python tests/anywhere.py [--only NAME]... -- python -m pytest tests/engine
"""

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

# A compiled kernel is cached by the path of its compiler: each imitation has its own, in a folder that git ignores.
FOLDER = Path(__file__).resolve().parents[1] / ".pytest_cache/anywhere"
COMPILERS = re.compile(r"(.*-)?(cc|c89|c99|gcc|clang)(-[\d.]+)?")
VARIABLES = {
    "this-machine": {},
    "torch-avx2": {"ATEN_CPU_CAPABILITY": "avx2"},
    "torch-default": {"ATEN_CPU_CAPABILITY": "default"},
    "mkl-avx2": {"MKL_ENABLE_INSTRUCTIONS": "AVX2"},
    "mkl-sse4.2": {"MKL_ENABLE_INSTRUCTIONS": "SSE4_2"},
    "openblas-haswell": {"OPENBLAS_CORETYPE": "Haswell"},
    "openblas-nehalem": {"OPENBLAS_CORETYPE": "Nehalem"},
}
COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
LEVELS = ("x86-64-v3", "x86-64-v2") if COMPILER and platform.machine() == "x86_64" else ()
NAMES = (*VARIABLES, *LEVELS, "perturbed", "no-compiler")
PERTURBED = Path(__file__).with_name("perturbed")


def imitated(name):
    """Return the environment of processes on an imitated machine."""
    if name == "perturbed":  # the kernels without fused products, and in vectors of another length
        other = {"PATH": compiler_for("x86-64-v2")} if LEVELS else {}
        return os.environ | {"PYTHONPATH": str(PERTURBED)} | other
    path = {"PATH": without_compiler() if name == "no-compiler" else compiler_for(name)}
    return os.environ | VARIABLES.get(name, path)


def compiler_for(level):
    """Return a PATH whose C compiler generates code for an x86-64 level instead of this processor."""
    folder = FOLDER / level
    folder.mkdir(parents=True, exist_ok=True)
    replaced = f'for one do shift; [ "$one" != -march=native ] || one=-march={level}; set -- "$@" "$one"; done'
    (folder / "cc").write_text(f'#!/bin/sh\n{replaced}\nexec {COMPILER} "$@"\n')
    (folder / "cc").chmod(0o755)
    return f"{folder}{os.pathsep}{os.environ['PATH']}"


def without_compiler():
    """Return a PATH without C compilers: links to the other programs stand in for each folder that has one."""
    shutil.rmtree(FOLDER / "no-compiler", ignore_errors=True)
    folders = []
    for number, folder in enumerate(os.environ["PATH"].split(os.pathsep)):
        programs = list(Path(folder).iterdir()) if Path(folder).is_dir() else []
        kept = [program for program in programs if not COMPILERS.fullmatch(program.name)]
        links = FOLDER / "no-compiler" / str(number)
        if len(kept) < len(programs):
            links.mkdir(parents=True)
            for program in kept:
                (links / program.name).symlink_to(program)
        folders.append(folder if len(kept) == len(programs) else str(links))
    return os.pathsep.join(folders)


def main():
    """Run a command under each imitation; exit with 1 where one failed, and say which did."""
    parser = argparse.ArgumentParser(prog="anywhere")
    parser.add_argument("--only", action="append", choices=NAMES, help="may be given several times; without it, all")
    parser.add_argument("command", nargs="+", help="after --, runs pytest")
    given = parser.parse_args()
    failed = []
    for name in given.only or NAMES:
        print(f"imitation: {name}", flush=True)
        if subprocess.run(given.command, env=imitated(name), check=False).returncode:
            failed.append(name)
    sys.exit(f"failed: {', '.join(failed)}" if failed else 0)


if __name__ == "__main__":
    main()
