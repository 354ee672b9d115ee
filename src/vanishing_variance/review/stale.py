"""Results that are not those of the tree: what `dvc status` says, without what only a checkout's empty cache says."""

from collections.abc import Collection, Mapping
from typing import Any

# Where the results are that DVC keeps: a clone without its cache has none of them, and is not stale for that.
CACHED = ("runs/", "data/")
ABSENT = ("deleted", "not in cache")


def stale(status: Mapping[str, Any], recorded: Collection[str]) -> dict[str, list[str]]:
    """The stages that `dvc repro` would run, each with what differs from its record, in words (Markdown).

    `status`: what `dvc status --json` prints: stage -> list of a word, or of {"changed deps" | "changed outs": {path:
    how}}, where the parameters' path leads to {key: how}. `recorded`: the stages that dvc.lock has. Stages that are
    only downstream of these are not named: whether they run depends on what these make.
    """
    found = {stage: ["it has not run"] if stage not in recorded else _said(said) for stage, said in status.items()}
    return {stage: reasons for stage, reasons in found.items() if reasons}


def _said(said: list[Any]) -> list[str]:
    """Parameters first."""
    parameters, others = [], []
    for one in said:
        if not isinstance(one, Mapping):
            others.append(str(one))
            continue
        for what, differing in one.items():
            for path, how in differing.items():
                if isinstance(how, Mapping):
                    parameters += [f"`{key}`" for key in how]
                elif not (path.startswith(CACHED) and how in ABSENT):
                    others.append(f"`{path}`" + (f" is {how}" if what == "changed outs" else ""))
    return parameters + others
