"""Two states of a checkout, a commit and the working tree, compared; and both of them run at smoke scale."""

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import yaml

from vanishing_variance.errors import InputError
from vanishing_variance.io import dvc, git
from vanishing_variance.io.edited import edit_yaml
from vanishing_variance.io.yaml import read_yaml
from vanishing_variance.params.base import PATH
from vanishing_variance.review.facts import Facts, Trial
from vanishing_variance.review.flips import Claims
from vanishing_variance.review.lock import Record, changes, records
from vanishing_variance.review.pairs import pairs
from vanishing_variance.review.smoke import settings, untried
from vanishing_variance.review.stale import stale
from vanishing_variance.study import METRICS, PLOTS, TASKS

SMOKE = Path("tests/smoke.yaml")
LOCK = Path("dvc.lock")
CLAIMS = METRICS / "claims.json"
# Many numbers, so they stand apart from DVC's few metrics: those by length, the paper's, Proposition 1, Figure 1.
MANY = [str(METRICS / f"{name}.json") for name in (*TASKS, "paper", "proposition", "probe")]


def facts(root: Path, base: str) -> Facts:
    """What differs between the commit `base` and the working tree."""
    are = dvc.stage_names(root)
    recorded = _records(_here(root, LOCK))
    claims = (_claims(git.text_at(root, base, str(CLAIMS))), _claims(_here(root, CLAIMS)))
    with TemporaryDirectory() as folder:
        git.export(root, base, Path(folder))
        git.commit_all(Path(folder), "base")  # of a repository of its own, without which DVC does nothing
        were = dvc.stage_names(Path(folder))
    metrics = dvc.metrics_diff(root, base)
    return Facts(
        parameters=pairs(dvc.params_diff(root, base)),
        metrics=pairs({file: keys for file, keys in metrics.items() if file not in MANY}),
        details=pairs(dvc.metrics_diff(root, base, MANY)),
        claims=claims,
        files=git.differing(root, base, str(METRICS), str(PLOTS)),
        changes=changes(_records(git.text_at(root, base, str(LOCK))), recorded, were, are),
        stale=stale(dvc.status(root), recorded),
    )


def trial(root: Path, base: str) -> Trial:
    """Both states at smoke scale in a copy: the commit's from nothing, then the working tree's upon its results."""
    changed = [pair.key for pair in pairs(dvc.params_diff(root, base))]
    with TemporaryDirectory() as folder:
        copy = Path(folder) / "copy"
        copy.mkdir()
        git.export(root, base, copy)
        for results in (METRICS, PLOTS):
            shutil.rmtree(copy / results, ignore_errors=True)
        (copy / LOCK).unlink(missing_ok=True)
        _at_smoke_scale(copy)
        git.commit_all(copy, "base")
        before = dvc.reproduce(copy)
        git.commit_all(copy, "the base's results")
        for name in git.files(copy):
            if not _generated(name):
                (copy / name).unlink()
        for name in git.files(root):
            if not _generated(name):
                (copy / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(root / name, copy / name)
        _at_smoke_scale(copy)
        after = dvc.reproduce(copy)
        return Trial(before, after, facts(copy, git.commit(copy, "HEAD")), untried(changed))


def _generated(name: str) -> bool:
    return name == str(LOCK) or Path(name).parts[0] in (METRICS.name, PLOTS.name)


def _at_smoke_scale(copy: Path) -> None:
    """Its params.yaml becomes its smoke scale's, with its own values for what is run."""
    own = settings(read_yaml(copy / PATH), read_yaml(copy / SMOKE))
    shutil.copy(copy / SMOKE, copy / PATH)
    edit_yaml(copy / PATH, own)


def _here(root: Path, path: Path) -> str | None:
    return (root / path).read_text(encoding="utf-8") if (root / path).is_file() else None


def _records(text: str | None) -> dict[str, Record]:
    try:
        return records(yaml.safe_load(text or "") or {})
    except yaml.YAMLError as problem:
        raise InputError(f"{LOCK}: cannot be read as YAML: {' '.join(str(problem).split())[:200]}") from None


def _claims(text: str | None) -> Claims | None:
    try:
        document: Mapping[str, Any] | None = None if text is None else json.loads(text)
    except ValueError as problem:
        raise InputError(f"{CLAIMS}: cannot be read as JSON: {problem}") from None
    return document
