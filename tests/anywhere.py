"""The tests on imitations of other processors and machines, and a table of the results.

python tests/anywhere.py [--only NAME]... -- python -m pytest tests/model
"""

import argparse
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

from vanishing_variance.harness.machine import machine

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
NAMES = (
    *VARIABLES,
    *LEVELS,
    "perturbed",
    "no-compiler",
    *(["one-core"] if hasattr(os, "sched_setaffinity") else []),
    "loaded",
)
PERTURBED = Path(__file__).with_name("perturbed")
COUNTED = ("passed", "failed", "error", "skipped")


@contextmanager
def imitated(name):
    """Imitate a machine while the context lasts; yield the environment for its processes."""
    if name == "one-core":
        cores = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {min(cores)})
        try:
            yield dict(os.environ)
        finally:
            os.sched_setaffinity(0, cores)
    elif name == "loaded":
        loop = "import os; parent = os.getppid()\nwhile os.getppid() == parent: pass"  # ends when this one is killed
        loops = [subprocess.Popen([sys.executable, "-c", loop]) for _ in range(os.cpu_count())]
        try:
            yield dict(os.environ)
        finally:
            for loop in loops:
                loop.kill()
                loop.wait()
    elif name == "perturbed":  # the kernels without fused products, and in vectors of another length
        other = {"PATH": compiler_for("x86-64-v2")} if LEVELS else {}
        yield os.environ | {"PYTHONPATH": str(PERTURBED)} | other
    else:
        path = {"PATH": without_compiler() if name == "no-compiler" else compiler_for(name)}
        yield os.environ | VARIABLES.get(name, path)


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


def run(name, command):
    """Run a command under an imitation; return its exit code, the seconds it took and pytest's counts by outcome."""
    began, summary = time.monotonic(), ""
    with imitated(name) as environment, subprocess.Popen(command, env=environment, stdout=subprocess.PIPE) as process:
        for printed in process.stdout:
            line = printed.decode(errors="replace").rstrip()
            summary = line if re.search(rf"\d ({'|'.join(COUNTED)})", line) else summary
            print(line, flush=True)
    counts = {outcome: int(number) for number, outcome in re.findall(r"(\d+) ([a-z]+?)s?\b", summary)}
    return process.returncode, time.monotonic() - began, counts


def main():
    """Run a command under each imitation; print a table, and exit with 1 where one failed."""
    parser = argparse.ArgumentParser(prog="anywhere")
    parser.add_argument("--only", action="append", choices=NAMES, help="may be given several times; without it, all")
    parser.add_argument("command", nargs="+", help="after --, runs pytest")
    given = parser.parse_args()
    head = f"On {machine()['device']}, {os.cpu_count()} cores:\n\n| imitation | {' | '.join(COUNTED)} | seconds |\n"
    table, failed = head + "|---" + "|--:" * 5 + "|\n", False
    for name in given.only or NAMES:
        print(f"imitation: {name}", flush=True)
        code, seconds, counts = run(name, given.command)
        cells = (name, *(counts.get(outcome, 0) for outcome in COUNTED), round(seconds))
        table += f"| {' | '.join(map(str, cells))} |\n"
        failed |= code != 0
    print(table)
    sys.exit(failed)


if __name__ == "__main__":
    main()
