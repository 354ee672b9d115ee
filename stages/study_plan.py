"""Check a study, and write what each of its lines is trained and tested with."""

from itertools import product

from vanishing_variance.engine.ranges import Range
from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.script import Arguments, run
from vanishing_variance.harness.sections import PATH, get_param
from vanishing_variance.harness.yaml import read_yaml, written
from vanishing_variance.studies.line import plan_file, runs
from vanishing_variance.studies.plan import digest, plan_of_test, plan_of_training
from vanishing_variance.studies.results import results_files
from vanishing_variance.studies.study import check_batch, check_pairs, held_out, line_params, read_study


def main() -> None:
    parser = Arguments(description=__doc__)
    parser.add_argument("study", help="a folder of studies")
    write_plan(parser.parse_args().study)


def write_plan(name: str) -> None:
    """Write the plans of a study's lines, a digest of each, and what compares the lines. Raises InputError."""
    study = read_study(name)
    params = read_yaml(PATH)
    resolved = {line: line_params(params, study, line) for line in study.names}
    results_files(name, study)
    check_pairs(study, resolved)
    of_all = next(iter(resolved.values()))  # what follows is the same for all lines
    test = held_out(of_all, study)
    longest = get_param(of_all, f"ranges.{study.range}", Range).longest
    plans = {}
    for line, task in product(study.lines, study.tasks):
        train = plan_of_training(resolved[line], task, study.range)
        check_batch(resolved[line], runs(train, task, study.range, name, line)[0])
        plans[f"{task}-{line}"] = {"train": train, "test": plan_of_test(resolved[line], task, test)}
    digests = {part: {name: digest(plan[part]) for name, plan in plans.items()} for part in ("train", "test")}
    compare = {"longest": longest, "sequences": test["sequences"]}
    write_text(plan_file(name), written({**digests, "compare": compare, "plans": plans}))


if __name__ == "__main__":
    run(main)
