"""Compare the variants over seeds by paired t-tests: the raw results, Tables 1 to 6, ours beside the paper's."""

from vanishing_variance.command import Arguments, run
from vanishing_variance.comparison import agreement, cells, markdown
from vanishing_variance.io.files import read_json, write_json, write_text
from vanishing_variance.io.frames import read_csv, read_frame, write_csv
from vanishing_variance.io.yaml import read_yaml
from vanishing_variance.metrics import summary
from vanishing_variance.params.base import PATH, take
from vanishing_variance.paths import temperature
from vanishing_variance.results import compare, gather, polynomials
from vanishing_variance.study import METRICS, RANGES, REFERENCE, TASKS, expected
from vanishing_variance.tables import ablation_table, accuracy_table

# The paper's tables: of accuracies by task and range, and of ablations, all on the short range, by task.
ACCURACIES = {1: ("argmax", "short"), 2: ("dictionary", "short"), 4: ("argmax", "long"), 5: ("dictionary", "long")}
ABLATIONS = {3: "argmax", 6: "dictionary"}


def main() -> None:
    parser = Arguments(description=__doc__, allow_abbrev=False)
    parser.add_argument("--range", choices=RANGES, action="append", help="by hand, where no other has been trained")
    ranges = list(dict.fromkeys(parser.parse_args().range or RANGES))
    params = read_yaml(PATH)
    norm, blocks = take(params, "norm", str), take(params, "blocks", list[int])
    runs = expected(norm, blocks, ranges)
    frames = ((one, read_frame(one.path("accuracy", ".parquet"))) for one in runs)
    accuracy = gather(frames, take(params, "seeds_per_block", int))
    paper = read_csv(REFERENCE)
    write_csv(METRICS / "accuracy.csv", accuracy)
    for task in TASKS:
        by_range = {name: summary(compare(accuracy, task, name, norm, "none")) for name in ranges}
        write_json(METRICS / f"{task}.json", by_range)
    beside = cells(accuracy, paper)
    write_csv(METRICS / "paper.csv", beside)
    write_json(METRICS / "paper.json", agreement(beside))
    write_text(METRICS / "paper.md", markdown(agreement(beside)))
    temperatures = [{**vars(one), **read_json(temperature(one))} for one in expected(norm, blocks[:1], ranges)]
    write_csv(METRICS / "temperatures.csv", polynomials(temperatures))
    tables = {
        number: accuracy_table(number, accuracy, task, name, norm, paper)
        for number, (task, name) in ACCURACIES.items()
        if name in ranges
    }
    if "short" in ranges:
        tables |= {number: ablation_table(number, accuracy, task, norm, paper) for number, task in ABLATIONS.items()}
    for number, table in tables.items():
        path = METRICS / "tables" / f"table{number}"
        write_text(path.with_suffix(".md"), table.markdown())
        write_text(path.with_suffix(".tex"), table.latex())
        write_csv(path.with_suffix(".csv"), table.numbers)


if __name__ == "__main__":
    run(main)
