"""What a stage needs, as terms with a reason and the parameters that they grow with."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

# A process with the libraries that a stage imports and those that they import later, before it computes anything.
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
    """What `name` needs: `data` and `tensors` in each of `processes`, `results` where they are gathered.

    Where there is a GPU, `gpu` is how many bytes it has free for the tensors; all else is in the host's memory.
    """

    name: str
    data: tuple[Term, ...] = ()
    tensors: tuple[Term, ...] = ()
    results: tuple[Term, ...] = ()
    processes: int = 1
    gpu: int | None = None

    def lower(self) -> str:
        """The parameters to lower, those of the largest terms first."""
        terms = sorted((*self.data, *self.tensors, *self.results), key=lambda term: -term.bytes)
        worth = [term for term in terms if term.bytes >= WORTH_NAMING * terms[0].bytes]
        values = {name: value for term in worth for name, value in term.parameters.items()}
        *others, last = (f"{name} ({value})" for name, value in values.items())
        return f"lower {', '.join(others)} or {last}" if others else f"lower {last}"


def total(terms: Iterable[Term]) -> float:
    """Bytes of all terms together."""
    return sum(term.bytes for term in terms)
