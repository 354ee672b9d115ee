"""Check a study, and write what each of its lines is trained and tested with."""

from itertools import product

from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.script import Arguments, run
from vanishing_variance.harness.sections import PATH
from vanishing_variance.harness.yaml import read_yaml, written
from vanishing_variance.studies.line import LineRun, plan_file
from vanishing_variance.studies.parameters import (
    check_batch,
    check_pairs,
    held_out,
    line_params,
    longest_of_ranges,
    params_of_tables,
    runs_of,
)
from vanishing_variance.studies.plan import digest, plan_of_test, plan_of_training
from vanishing_variance.studies.reading import check_kept
from vanishing_variance.studies.study import read_study


def main() -> None:
    parser = Arguments(description=__doc__)
    parser.add_argument("study", help="a folder of studies")
    write_plan(parser.parse_args().study)


def write_plan(name: str) -> None:
    """Write the plans of a study's lines, a digest of each block's, and what compares the lines. Raises InputError."""
    study = read_study(name)
    params = read_yaml(PATH)
    resolved = {line: line_params(params, study, line) for line in study.names}
    check_kept(name, study, resolved)
    check_pairs(study, resolved)
    of_all = next(iter(resolved.values()))  # what follows is the same for all lines
    test = held_out(of_all, study)
    plans = {}
    digests: dict[str, dict[str, str]] = {"train": {}, "test": {}}
    for line, task in product(study.lines, study.tasks):
        range_ = study.range_of(line)
        plan = {
            "train": plan_of_training(resolved[line], task, range_),
            "test": plan_of_test(resolved[line], task, test, study.paper_tables),
        }
        plans[f"{task}-{line}"] = plan
        for block in resolved[line]["blocks"]:
            this = LineRun(task, range_, plan["train"]["norm"], block, plan["train"]["attention"], name, line)
            for part, of_part in digests.items():
                of_part[this.name] = digest(plan[part])
        check_batch(resolved[line], this)
    compare = {"longest": longest_of_ranges(of_all, study), "sequences": test["sequences"]}
    if study.paper_tables:
        compare["params"] = params_of_tables(params, study)
    document = {**digests, "compare": compare, "plans": plans, "runs": runs_of(study, resolved)}
    write_text(plan_file(name), written(document))


if __name__ == "__main__":
    run(main)
