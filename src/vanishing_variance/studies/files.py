"""The files of a study, of studies/ or of params.yaml, whose name is ""."""

import hashlib
from pathlib import Path

from vanishing_variance.engine.run import Run
from vanishing_variance.harness.paths import RUNS

STUDIES = Path("studies")
PACKAGE = Path(__file__).parents[1]
# A training that diverged leaves this instead of weights: {"said": the message of the error}.
DIVERGED = "diverged.json"


def plan_file(study: str) -> Path:
    """Return the path of the plans of a study's runs."""
    return STUDIES / study / "plan.yaml" if study else RUNS / "plan.yaml"


def digest_file(part: str, key: str) -> Path:
    """Return the path of the digest of a part of the plan of a run of params.yaml, on which its stages depend."""
    return RUNS / "plan" / part / key


def results_file(run: Run) -> Path:
    """Return the path of the results of a run; a study's are in git."""
    if run.study:
        return STUDIES / run.study / "results" / f"{run.key}.csv"
    return run.folder("tested") / "results.csv"


def measured_file(run: Run, kind: str) -> Path:
    """Return the path of what was measured in a run beside its test: interventions, or proposition."""
    if run.study:
        return STUDIES / run.study / "results" / f"{kind}-{run.key}.csv"
    return run.folder(kind) / f"{kind}.csv"


def kept_file(study: str) -> Path:
    """Return the path of the results of seeds that are kept, whose weights nobody has."""
    return STUDIES / study / "results" / "kept.csv"


def source_hash(path: Path) -> str:
    """Return the SHA-256 of a source, its first 16 digits; where there is none nothing."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16] if path.exists() else ""
