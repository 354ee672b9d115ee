"""What there is to say about a pull request, before it is put into words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from vanishing_variance.review.flips import Claims
from vanishing_variance.review.lock import Change
from vanishing_variance.review.pairs import Pair
from vanishing_variance.review.smoke import Reproduced


@dataclass(frozen=True)
class Facts:
    """What differs between a base and the working tree.

    `parameters`, `metrics` and `details` (many more numbers): values at both; `claims`: the documents at both, None
    where there is none; `files`: (letter of `git diff --name-status`, path) of results; `changes`: of stages; `stale`:
    stages whose results are not those of the tree, with the reasons.
    """

    parameters: Sequence[Pair]
    metrics: Sequence[Pair]
    details: Sequence[Pair]
    claims: tuple[Claims | None, Claims | None]
    files: Sequence[tuple[str, str]]
    changes: Sequence[Change]
    stale: Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Trial:
    """Both states at smoke scale: how they ran, the tree's upon the base's results, and what differs."""

    base: Reproduced
    tree: Reproduced
    facts: Facts
    untried: Sequence[str]
