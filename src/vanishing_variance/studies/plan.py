"""The plan of a line: all that its training reads, in one file, so that it is trained again when that changes."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vanishing_variance.harness.paths import PAPER, RUNS, Run

STUDIES = Path("studies")
# A training that diverged leaves this instead of weights: {"said": the message of the error}.
DIVERGED = "diverged.json"
PACKAGE = Path(__file__).parents[1]
_WHOLE = ("norm", "attention", "seed", "blocks", "seeds_per_block", "model", "training")


@dataclass(frozen=True)
class LineRun(Run):
    """One block of seeds of a line."""

    study: str = ""
    line: str = ""

    def folder(self, kind: str) -> Path:
        """Return the folder of a kind: trained, checkpoints, evaluated."""
        return RUNS / "studies" / self.study / kind / f"{self.task}-{self.line}" / str(self.block)

    def __str__(self) -> str:
        return f"{self.line} {self.task}-{self.block}"


def plan(params: Mapping[str, Any], task: str, range_: str) -> dict[str, Any]:
    """Return the part of a line's parameters that its training on a task reads, and the hashes of what it names."""
    own = params["tasks"][task]
    steps = {range_: own["steps"][range_]}
    names = [f"attentions/{params['attention']}.py", f"norms/{params['norm']}.py"]
    files = {name: _hash(PACKAGE / name) for name in names}
    network = {}
    if params["network"] != PAPER:
        network = network_plan(params, [task])
        files |= network.pop("files")
    return {
        **{key: params[key] for key in _WHOLE},
        **network,
        "tasks": {task: {**own, "steps": steps}},
        "ranges": {range_: params["ranges"][range_]},
        "files": files,
    }


def network_plan(params: Mapping[str, Any], tasks: Iterable[str]) -> dict[str, Any]:
    """Return the network, and but for the paper's its options and the hashes of what the plain engine reads."""
    network = params["network"]
    if network == PAPER:
        return {"network": PAPER}
    files = _plain_files(network, tasks)
    return {"network": network, "network_options": params["network_options"], "files": files}


def plan_of_tests(
    test: Mapping[str, Any], lines: Iterable[Mapping[str, Any]], tasks: Iterable[str]
) -> dict[str, Mapping[str, Any]]:
    """Return what the tests of a study's lines read, `test` among it, and the hashes of what only some of them read.

    The inside of several heads of the paper's network is measured by the plain engine.
    """
    if any(line["network"] == PAPER and line["model"]["heads"] > 1 for line in lines):
        return {"test": test, "files": _plain_files(PAPER, tasks)}
    return {"test": test}


def runs(plan: Mapping[str, Any], task: str, range_: str, study: str, line: str) -> list[LineRun]:
    """Return the runs of a line, one a block of seeds."""
    names = task, range_, plan["norm"]
    return [LineRun(*names, block, plan["attention"], study, line) for block in plan["blocks"]]


def _plain_files(network: str, tasks: Iterable[str]) -> dict[str, str]:
    """Return the hashes of what the plain engine reads of a network."""
    networks = {"__init__", PAPER, network}  # it reads the paper's, too
    names = [f"networks/{name}.py" for name in sorted(networks)]
    names += [f"features/{task}.py" for task in tasks]
    names += sorted(f"plain/{path.name}" for path in (PACKAGE / "plain").glob("*.py"))
    return {name: _hash(PACKAGE / name) for name in names}


def _hash(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
