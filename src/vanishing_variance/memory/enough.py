"""A stage starts when there is memory for it, and says which parameter to lower when there is not."""

from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager

from vanishing_variance.errors import InputError, ran_out
from vanishing_variance.memory.free import addresses, free
from vanishing_variance.memory.need import PROCESS, Need, total


@contextmanager
def enough(need: Need) -> Iterator[None]:
    """Within, a stage does what it needs memory for.

    Raises InputError, which names the parameters to lower: before anything is done where the memory is not there, and
    also when it runs out all the same.
    """
    _require(need)
    try:
        yield
    except BrokenProcessPool:
        why = "one of its processes was killed: if it was not you, memory ran out"
        raise InputError(f"{need.name}: {why}; run it again, or {_advice(need, free())}") from None
    except (MemoryError, OSError, RuntimeError) as problem:
        if not ran_out(problem):
            raise
        raise InputError(f"{need.name}: memory ran out; {_advice(need, free())}") from None


def _require(need: Need) -> None:
    if need.gpu is not None and total(need.tensors) > need.gpu:
        raise _refused(need, total(need.tensors), need.gpu, " on the GPU")
    one, results, there, allowed = _each(need), total(need.results), free(), addresses()
    if need.processes * one + results > there:
        where = f" in {need.processes} processes" if need.processes > 1 else ""
        raise _refused(need, need.processes * one + results, there, where)
    if allowed is not None and one + results > allowed:
        raise _refused(need, one + results, allowed, " in one process, which has a limit (ulimit -v),")


def _each(need: Need) -> float:
    """Bytes of the host's memory that each process needs."""
    return PROCESS + total(need.data) + (total(need.tensors) if need.gpu is None else 0)


def _refused(need: Need, needed: float, there: int, where: str) -> InputError:
    return InputError(
        f"{need.name}: needs about {_shown(needed)}{where} and {_shown(there)} are free; {_advice(need, there)}"
    )


def _advice(need: Need, there: int) -> str:
    """What to do, first what changes no result."""
    alone = need.processes > 1 and _each(need) + total(need.results) <= there
    return ("use fewer cores (taskset -c 0), or " if alone else "") + need.lower()


def _shown(size: float) -> str:
    gibibytes = max(size, 0) / 2**30
    return f"{gibibytes:.1f} GiB" if gibibytes < 10 else f"{gibibytes:,.0f} GiB"
