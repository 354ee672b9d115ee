"""Validate params.yaml before anything else runs, and write what each of its runs is trained and tested with.

A digest a run and part of its plan is a file of its own, so that a stage depends on what it reads alone.
"""

from vanishing_variance.engine.run import PAPER
from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.paths import RUNS
from vanishing_variance.harness.script import Arguments, run_script
from vanishing_variance.harness.sections import PATH
from vanishing_variance.harness.yaml import read_yaml, written
from vanishing_variance.params import check, say_unread
from vanishing_variance.studies.files import digest_file, plan_file
from vanishing_variance.studies.made_of import digest
from vanishing_variance.studies.plan import PARTS, study_plan
from vanishing_variance.studies.root import root_study
from vanishing_variance.studies.sources import hashes


def main() -> None:
    Arguments(description=__doc__).parse_args()
    params = read_yaml(PATH)
    check(params)
    if params["network"] != PAPER:
        say_unread(params["model"])
    study = root_study(params)
    plan = study_plan("", study, params)
    write_text(RUNS / "checked", "params.yaml is valid\n")
    write_text(plan_file(""), written(plan, once=True))
    digests = {part: plan[part] for part in PARTS}
    digests["generate"] = {task: digest(hashes([f"tasks/{task}.py"])) for task in study.tasks}
    for part, of_part in digests.items():
        for key, text in of_part.items():
            write_text(digest_file(part, key), f"{text}\n")


if __name__ == "__main__":
    run_script(main)
