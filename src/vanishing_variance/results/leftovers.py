"""Outputs of other settings, which lie beside those of these ones; as a program, remove them and empty folders."""

import shutil
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from vanishing_variance.engine.config import Norm
from vanishing_variance.engine.ranges import ranges_of
from vanishing_variance.engine.seeds import Blocks
from vanishing_variance.harness.paths import DATA, RUNS
from vanishing_variance.harness.script import run_script
from vanishing_variance.harness.sections import PATH, get_param
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.results.runs import expected, gathered


def main() -> None:
    """Leave in runs/ and data/ what is of params.yaml."""
    keep_only(read_yaml(PATH))
    remove_empty(RUNS)
    remove_empty(DATA)


def keep_only(params: Mapping[str, Any]) -> None:
    """Leave, where the runs of these parameters lie, these alone, and what DVC's cache lacks."""
    norm, blocks = get_param(params, "norm", Norm), get_param(params, "blocks", Blocks)
    remove_others(gathered(expected(norm, blocks, ranges_of(params), get_param(params, "attention", str))))


def remove_others(runs: Collection[Path]) -> None:
    """Remove what lies beside the folders of runs, of other blocks and ranges, where DVC's cache has it.

    A stage that depends on what holds these folders then depends on them alone. They go before it begins, by
    `stages.check`, for dvc-parallel records no stage whose dependencies change while it runs; where nothing has checked
    params.yaml, by the stage, for DVC hashes a dependency once the stage has run. DVC checks them out again when they
    are asked for.
    """
    tops = {folder.parents[1] for folder in runs}
    others = [path for top in tops for path in top.glob("*/*") if path.is_dir() and path not in runs]
    if not others:
        return
    from dvc.fs import LocalFileSystem  # noqa: PLC0415 -- it takes a second
    from dvc.repo import Repo  # noqa: PLC0415
    from dvc_data.hashfile.build import build  # noqa: PLC0415
    from dvc_data.hashfile.tree import Tree  # noqa: PLC0415

    with Repo() as repo:
        cache = repo.cache.local
        for folder in others:
            _, _, tree = build(cache, str(folder), LocalFileSystem(), "md5", dry_run=True)
            assert isinstance(tree, Tree)
            hashes = [tree.hash_info.value, *(of_file.value for _, _, of_file in tree)]
            if all(map(cache.exists, hashes)):
                shutil.rmtree(folder)


def remove_empty(top: Path) -> None:
    """Remove empty folders, which DVC leaves where its cache lacks what was in them, and takes for changed outputs."""
    for folder in sorted(top.rglob("*"), reverse=True):
        if folder.is_dir() and not any(folder.iterdir()):
            folder.rmdir()


if __name__ == "__main__":
    run_script(main)
