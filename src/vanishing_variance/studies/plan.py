"""The plan of a line: all that its training and its test read, so that they run again when that changes."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from vanishing_variance.harness.paths import PAPER
from vanishing_variance.studies.sources import PACKAGE, hashes

_WHOLE = ("norm", "attention", "seed", "blocks", "seeds_per_block", "model", "training")


def plan_of_training(params: Mapping[str, Any], task: str, range_: str) -> dict[str, Any]:
    """Return the part of a line's parameters that its training on a task reads, and the hashes of what it names."""
    own = params["tasks"][task]
    steps = {range_: own["steps"][range_]}
    files = hashes([f"attentions/{params['attention']}.py", f"norms/{params['norm']}.py"])
    network = network_plan(params, [task])
    return {
        **{key: params[key] for key in _WHOLE},
        **network,
        "tasks": {task: {**own, "steps": steps}},
        "ranges": {range_: params["ranges"][range_]},
        "files": files | network.get("files", {}),
    }


def network_plan(params: Mapping[str, Any], tasks: Iterable[str]) -> dict[str, Any]:
    """Return the network, and but for the paper's its options and the hashes of what the plain engine reads."""
    network = params["network"]
    if network == PAPER:
        return {"network": PAPER}
    files = _plain_files(network, tasks)
    return {"network": network, "network_options": params["network_options"], "files": files}


def plan_of_test(params: Mapping[str, Any], task: str, test: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a line's test on a task reads beside its training's plan: `test`, the lengths, among it.

    The inside of several heads of the paper's network is measured by the plain engine.
    """
    if params["network"] != PAPER:
        return {"test": test}
    plan = {"test": test, "diagnostics": params["diagnostics"]}
    if params["model"]["heads"] > 1:
        plan["files"] = _plain_files(PAPER, [task])
    return plan


def digest(plan: Mapping[str, Any]) -> str:
    """Return a text that changes with a plan, which a line's stages declare to DVC, so that no other line's rerun."""
    return hashlib.sha256(json.dumps(plan, sort_keys=True).encode()).hexdigest()[:16]


def _plain_files(network: str, tasks: Iterable[str]) -> dict[str, str]:
    """Return the hashes of what the plain engine reads of a network."""
    networks = {"__init__", PAPER, network}  # it reads the paper's, too
    names = [f"networks/{name}.py" for name in sorted(networks)]
    names += [f"features/{task}.py" for task in tasks]
    names += sorted(f"plain/{path.name}" for path in (PACKAGE / "plain").glob("*.py"))
    return hashes(names)
