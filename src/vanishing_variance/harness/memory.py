"""Memory that a stage needs, held against what is free before it starts; with advice which parameter to lower."""

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass

from vanishing_variance.harness.errors import InputError, ran_out
from vanishing_variance.harness.free_memory import free_addresses, free_memory

# Bytes of a process with the libraries that a stage imports, before it computes anything.
PROCESS = 440 * 2**20
# Parameters of terms that are less than this part of the largest are not worth lowering.
WORTH_NAMING = 0.1


@dataclass(frozen=True)
class Term:
    """Bytes that are needed at one time, and the `parameters` (value by name) that they grow with."""

    bytes: float
    parameters: Mapping[str, int | str]


@dataclass(frozen=True)
class Need:
    """Memory that stage `name` needs: `data` and `tensors` in each of `processes`, `results` where they are gathered.

    Where there is a GPU, `gpu` is how many bytes it has free for the tensors; all else is in the host's memory.
    """

    name: str
    data: tuple[Term, ...] = ()
    tensors: tuple[Term, ...] = ()
    results: tuple[Term, ...] = ()
    processes: int = 1
    gpu: int | None = None

    def advice(self) -> str:
        """Return which parameters to lower, those of the largest terms first."""
        terms = sorted((*self.data, *self.tensors, *self.results), key=lambda term: -term.bytes)
        worth = [term for term in terms if term.bytes >= WORTH_NAMING * terms[0].bytes]
        values = {name: value for term in worth for name, value in term.parameters.items()}
        *others, last = (f"{name} ({value})" for name, value in values.items())
        return f"lower {', '.join(others)} or {last}" if others else f"lower {last}"


def total(terms: Iterable[Term]) -> float:
    """Return the bytes of all terms together."""
    return sum(term.bytes for term in terms)


@contextmanager
def require_memory(need: Need) -> Iterator[None]:
    """Run what is within if there is memory for it.

    Raises InputError, which names the parameters to lower: before anything is done where the memory is not there, and
    also when it runs out all the same.
    """
    _require(need)
    try:
        yield
    except BrokenProcessPool:
        why = "one of its processes was killed: if it was not you, memory ran out"
        raise InputError(f"{need.name}: {why}; run it again, or {_advice(need, free_memory())}") from None
    except (MemoryError, OSError, RuntimeError) as problem:
        if not ran_out(problem):
            raise
        raise InputError(f"{need.name}: memory ran out; {_advice(need, free_memory())}") from None


def _require(need: Need) -> None:
    if need.gpu is not None and total(need.tensors) > need.gpu:
        raise _refused(need, total(need.tensors), need.gpu, " on the GPU")
    one, results, free, addresses = _each(need), total(need.results), free_memory(), free_addresses()
    if need.processes * one + results > free:
        where = f" in {need.processes} processes" if need.processes > 1 else ""
        raise _refused(need, need.processes * one + results, free, where)
    if addresses is not None and one + results > addresses:
        raise _refused(need, one + results, addresses, " in one process, which has a limit (ulimit -v),")


def _each(need: Need) -> float:
    """Return the bytes of the host's memory that each process needs."""
    return PROCESS + total(need.data) + (total(need.tensors) if need.gpu is None else 0)


def _refused(need: Need, needed: float, free: int, where: str) -> InputError:
    return InputError(
        f"{need.name}: needs about {_shown(needed)}{where} and {_shown(free)} are free; {_advice(need, free)}"
    )


def _advice(need: Need, free: int) -> str:
    """Return what to do, first what changes no result."""
    one_fits = need.processes > 1 and _each(need) + total(need.results) <= free
    return ("use fewer cores (taskset -c 0), or " if one_fits else "") + need.advice()


def _shown(size: float) -> str:
    gibibytes = max(size, 0) / 2**30
    return f"{gibibytes:.1f} GiB" if gibibytes < 10 else f"{gibibytes:,.0f} GiB"
