"""Check a study, and write what each of its lines is trained with."""

import shutil

from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.script import Arguments, run
from vanishing_variance.harness.sections import PATH
from vanishing_variance.harness.yaml import read_yaml, written
from vanishing_variance.studies.plan import STUDIES, plan, plan_of_tests, runs
from vanishing_variance.studies.study import check_batch, held_out, line_params, read_study


def main() -> None:
    parser = Arguments(description=__doc__)
    parser.add_argument("study", help="a folder of studies")
    name = parser.parse_args().study
    study = read_study(name)
    params = read_yaml(PATH)
    for line, parameters in study.kept.items():
        if parameters:
            line_params(params, study, line)
    resolved = {line: line_params(params, study, line) for line in study.lines}
    # two files more, so that there is a plan where all lines are kept
    plans = {
        "lines.yaml": written({"lines": list(study.lines), "kept": list(study.kept)}),
        "test.yaml": written(plan_of_tests(held_out(params, study), resolved.values(), study.tasks)),
    }
    for line, of_line in resolved.items():
        for task in study.tasks:
            planned = plan(of_line, task, study.range)
            check_batch(of_line, runs(planned, task, study.range, name, line)[0])
            plans[f"{task}-{line}.yaml"] = written(planned)
    folder = STUDIES / name / "plan"
    shutil.rmtree(folder, ignore_errors=True)
    for file, text in plans.items():
        write_text(folder / file, text)


if __name__ == "__main__":
    run(main)
