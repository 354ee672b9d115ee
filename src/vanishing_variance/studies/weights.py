"""The trained weights that stale tests of a study need: DVC removes a test's results before it misses them."""

from collections.abc import Iterator, Sequence

from dvc.exceptions import DvcException
from dvc.output import Output
from dvc.repo import Repo
from dvc.stage import Stage

from vanishing_variance.harness.errors import InputError
from vanishing_variance.studies.line import STUDIES

# So many names stand in an error.
NAMED = 3


def require_weights(study: str) -> None:
    """Put back from DVC's cache what the tests that will run need of weights.

    Raises InputError, which names the tests, where weights are neither here nor in the cache; where the results of a
    test that will not run are missing; and where DVC cannot work.
    """
    try:
        with Repo(".") as repo:
            with repo.lock:
                lacking = dict(_without_weights(repo, study))
                lost = [test for test, train in lacking.items() if train.outs[0].changed_cache()]
            if lost:
                raise InputError(_advice(study, lost))
            if lacking:
                repo.checkout([train.addressing for train in lacking.values()])
    except DvcException as problem:
        raise InputError(str(problem)) from None


def _without_weights(repo: Repo, study: str) -> Iterator[tuple[Stage, Stage]]:
    """Yield each test that DVC would run without weights, and its training, which it would not run."""
    stages = {stage.name: stage for stage in repo.stage.collect(str(STUDIES / study / "dvc.yaml"))}
    for name, train in stages.items():
        if not name.startswith("train@") or train.changed(allow_missing=True):
            continue
        test = stages[name.replace("train", "test", 1)]
        if not test.changed(allow_missing=True, upstream=[train]):
            _require_results(test)
        elif train.outs[0].workspace_status():
            yield test, train


def _require_results(test: Stage) -> None:
    """Raise InputError where the results of a test that DVC does not run again are missing."""
    for out in test.outs:
        if not out.use_cache and not out.exists:
            raise InputError(f"{out} is missing; put it back by git, or test again: dvc repro {test.addressing}")


def _advice(study: str, lost: Sequence[Stage]) -> str:
    """Return what is lost, and what to do, in one line."""
    changed = {str(part): None for test in lost for part in (*test.deps, *test.outs) if _is_changed(part)}
    tests = _some([test.name for test in lost])
    return (
        f"study {study}: {tests} would run again ({_some([*changed])} changed), but the trained weights are neither "
        "here nor in DVC's cache; put back what changed, or move these lines to kept, or train each again, as in: "
        f"dvc repro {lost[0].addressing}"
    )


def _is_changed(part: Output) -> bool:
    """Return whether DVC has something else of a dependency or an output than its lock; what is missing has not."""
    return any(state not in ("deleted", "not in cache") for state in part.status().values())


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
