"""A commit and the working tree, compared."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from results_review.claims import flips
from results_review.commands import dvc_json, dvc_table, git, snapshot, stage_names, text_at
from results_review.stages import Change, changes, records, stale, within

CLAIMS, LOCK = "metrics/claims.json", "dvc.lock"
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
    before, after = (records(text_at(root, state, LOCK)) for state in (base, tree))
    outputs = sorted({path for record in [*before.values(), *after.values()] for path in record.outputs})
    results = git(root, "diff", "--name-only", "-z", base, tree, "--", *outputs).split("\0")[:-1] if outputs else []
    kept = git(root, "ls-files", "-z").split("\0")
    metrics = dvc_table(root, "metrics", "diff", base[:12])
    others = [path for path in results if path.endswith(".json") and path != CLAIMS and f"| {path} |" not in metrics]
    return Comparison(
        parameters=dvc_table(root, "params", "diff", base[:12]),
        metrics=metrics,
        details=dvc_table(root, "metrics", "diff", base[:12], "--targets", *others) if others else "",
        flips=flips(*(text_at(root, state, CLAIMS) for state in (base, tree))),
        figures=sorted({str(Path(path).with_suffix("")) for path in results if path.endswith(FIGURES)}),
        changes=changes(before, after, stage_names(root, base), stage_names(root)),
        stale=stale(dvc_json(root, "status"), after, lambda path: any(within(file, path) for file in kept)),
    )
