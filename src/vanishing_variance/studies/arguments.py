"""The arguments of the stages that work on one run."""

import os
from dataclasses import dataclass
from typing import Any

from vanishing_variance.engine.run import Run
from vanishing_variance.harness.errors import InputError, shown
from vanishing_variance.harness.script import Arguments
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.studies.files import PACKAGE, plan_file, source_hash

# Of a run of params.yaml, in the order of its key.
OPTIONS = ("task", "range", "norm", "block")


@dataclass(frozen=True)
class Planned:
    """The plans of a study, as its file has them."""

    study: str
    document: dict[str, Any]

    @property
    def runs(self) -> list[Run]:
        """All runs that are trained, in the order of the plan."""
        return [self.run(key) for key in self.document["train"]]

    @property
    def intervened(self) -> list[Run]:
        """Those in which one thing is set at a time."""
        return [self.run(key) for key in self.document["intervened"]]

    @property
    def proposed(self) -> list[Run]:
        """Those in which Proposition 1 is measured."""
        return [self.run(key) for key in self.document["proposed"]]

    def run(self, key: str) -> Run:
        """Return the run of a key of the plan."""
        line, _, block = key.rpartition("-")
        plan = self.document["plans"][line]
        trained = plan["train"]
        (range_,) = trained["ranges"]
        return Run(
            plan["task"], plan["line"], int(block), range_, trained["norm"], trained["attention"], self.study
        )  # fmt: skip

    def params(self, key: str, *parts: str) -> dict[str, Any]:
        """Return parts of the plan of a run as one; one that it has not adds nothing."""
        plan = self.document["plans"][key.rpartition("-")[0]]
        return {name: value for part in parts for name, value in plan.get(part, {}).items()}

    def partner(self, key: str) -> Run:
        """Return the run of the same task and block whose line is the partner of this one's, in interventions."""
        return self.run(self.document["intervened"][key]["partner"])


def planned_run(description: str | None) -> tuple[Planned, str]:
    """Return the plans of a study and the key of the run that the arguments name. Exit with code 2 on another one.

    A run of params.yaml is named by options, which DVC quotes for the shell; the plan knows its partner. Raises
    InputError where a source that the plan names was edited since it was written.
    """
    parser = Arguments(description=description, allow_abbrev=False)
    parser.add_argument("run", nargs="?", help="a key of the study's plan.yaml; or --task, --range, --norm and --block")
    parser.add_argument("--study", default="", help="a folder of studies; without, params.yaml's")
    for option in (*OPTIONS, "partner"):
        parser.add_argument(f"--{option}", default="")
    chosen = parser.parse_args()
    key = chosen.run or "-".join(getattr(chosen, option) for option in OPTIONS)
    path = plan_file(chosen.study)
    planned = Planned(chosen.study, read_yaml(path))
    if key not in planned.document["train"]:
        names = ", ".join(planned.document["train"]) or "none"
        parser.error(f"argument run: {path} has no {shown(key)}; choose from {names}")
    if chosen.partner and key in planned.document["intervened"] and planned.partner(key).norm != chosen.partner:
        parser.error(f"argument --partner: {shown(chosen.partner)}; {path} has {planned.partner(key).norm}")
    require_as_planned(planned, key)
    return planned, key


def require_as_planned(planned: Planned, key: str, *parts: str) -> None:
    """Raise InputError where parts of the plan of a run, or a source, changed: DVC records digests as they are now."""
    path = plan_file(planned.study)
    now = read_yaml(path) if parts else {}
    for part in parts:
        if now.get(part, {}).get(key) != planned.document[part].get(key):
            raise InputError(f"{path} was written anew while this ran; run the same command again")
    for part in dict.fromkeys(("train", *parts)):
        for name, before in planned.params(key, part).get("files", {}).items():
            if source_hash(PACKAGE / name) != before:
                edited = os.path.relpath(PACKAGE / name)
                anew = f"stages.plan {planned.study}" if planned.study else "stages.check"
                raise InputError(f"{edited} was edited since {path} was written; write it anew: python -m {anew}")
