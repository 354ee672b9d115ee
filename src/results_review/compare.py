"""A commit and the working tree, compared."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from results_review.claims import flips
from results_review.commands import dvc_json, dvc_table, git, graph, snapshot, text_at
from results_review.stages import Change, Record, changes, records, stale, within

CLAIMS = "metrics/claims.json"
FIGURES = (".png", ".svg")


@dataclass(frozen=True)
class Comparison:
    """The differences of two states. `parameters`, `metrics` and `details` (of other result files): DVC's tables.

    `flips`: rows of `claims.flips`; `figures`: paths without suffix; `stale`: stages that have yet to run.
    """

    parameters: str = ""
    metrics: str = ""
    details: str = ""
    flips: Sequence[Sequence[str]] = ()
    figures: Sequence[str] = ()
    changes: Sequence[Change] = ()
    stale: Sequence[Change] = ()


def compare(root: Path, base: str) -> Comparison:
    """Compare the working tree with a commit. Raises ReviewError for a damaged file."""
    tree = snapshot(root)
    before, after = recorded(root, base), recorded(root, None, tree)
    outputs = sorted({path for record in [*before.values(), *after.values()] if record for path in record.outputs})
    results = git(root, "diff", "--name-only", "-z", base, tree, "--", *outputs).split("\0")[:-1] if outputs else []
    listings = git(root, "ls-files", "-z"), git(root, "ls-tree", "-r", "-z", "--name-only", base)
    kept = {path for listing in listings for path in listing.split("\0")}
    metrics = dvc_table(root, "metrics", "diff", base[:12])
    others = [path for path in results if path.endswith(".json") and path != CLAIMS and f"| {path} |" not in metrics]
    return Comparison(
        parameters=dvc_table(root, "params", "diff", base[:12]),
        metrics=metrics,
        details=dvc_table(root, "metrics", "diff", base[:12], "--targets", *others) if others else "",
        flips=flips(*(text_at(root, state, CLAIMS) for state in (base, tree))),
        figures=sorted({str(Path(path).with_suffix("")) for path in results if path.endswith(FIGURES)}),
        changes=changes(before, after),
        stale=stale(
            dvc_json(root, "status"),
            [name for name, record in after.items() if record],
            lambda path: any(within(file, path) for file in kept),
        ),
    )


def recorded(root: Path, commit: str | None, tree: str = "") -> dict[str, Record | None]:
    """Return the records of the stages at a commit, or in the working tree, of which `tree` is the snapshot."""
    return records(graph(root, commit), lambda path: text_at(root, commit or tree, path))
