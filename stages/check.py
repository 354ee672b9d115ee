"""Validate params.yaml before anything else runs, and say which network is trained and what the choices import.

A file each, so that a stage depends on its own choices alone; with the paper's network, and choices that import nothing
of this package, all are constant, so a passing check reruns nothing. It removes what other settings left where a stage
gathers results.
"""

from vanishing_variance.harness.errors import InputError, shown
from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.paths import CHOICES, NETWORK, RUNS
from vanishing_variance.harness.script import Arguments, run_script
from vanishing_variance.harness.sections import PATH
from vanishing_variance.harness.yaml import read_yaml, written
from vanishing_variance.params import check
from vanishing_variance.results.leftovers import keep_only
from vanishing_variance.results.runs import TASKS, trained
from vanishing_variance.studies.plan import network_plan
from vanishing_variance.studies.sources import hashes


def main() -> None:
    Arguments(description=__doc__).parse_args()
    params = read_yaml(PATH)
    check(params)
    for name in params["tasks"].keys() - set(TASKS):
        said = f"{PATH}: tasks.{name} is {shown(params['tasks'][name])}; the stages have {' and '.join(TASKS)} alone"
        raise InputError(f"{said}, and a study takes others: make study NEW=mine")
    write_text(RUNS / "checked", "params.yaml is valid\n")
    write_text(NETWORK, written(network_plan(params)))
    named = {"norms": trained("short", params["norm"]), "attentions": [params["attention"]]}
    for room, names in named.items():
        for name in names:
            imported = hashes([f"{room}/{name}.py"])
            imported.pop(f"{room}/{name}.py")  # stages declare it
            kind = room.removesuffix("s")
            options = params.get(f"{kind}_options", {}) if name == params[kind] else {}
            write_text(CHOICES / room / f"{name}.yaml", written(imported | options))
    keep_only(params)


if __name__ == "__main__":
    run_script(main)
