"""Compare the variants over seeds by paired t-tests: the raw results, Tables 1 to 6, ours beside the paper's."""

from vanishing_variance.command import Arguments, run
from vanishing_variance.comparison import agreement, cells
from vanishing_variance.io.files import read_json, write_json, write_text
from vanishing_variance.io.frames import read_csv, read_frame, write_csv
from vanishing_variance.io.yaml import read_yaml
from vanishing_variance.metrics import summary
from vanishing_variance.params.base import PATH, take
from vanishing_variance.paths import temperature
from vanishing_variance.results import compare, gather, polynomials
from vanishing_variance.study import METRICS, RANGES, REFERENCE, TASKS, expected
from vanishing_variance.tables import ablation_table, accuracy_table


def main() -> None:
    Arguments(description=__doc__).parse_args()
    params = read_yaml(PATH)
    norm, blocks = take(params, "norm", str), take(params, "blocks", list[int])
    runs = expected(norm, blocks)
    frames = ((one, read_frame(one.path("accuracy", ".parquet"))) for one in runs)
    accuracy = gather(frames, take(params, "seeds_per_block", int))
    paper = read_csv(REFERENCE)
    write_csv(METRICS / "accuracy.csv", accuracy)
    for task in TASKS:
        ranges = {name: summary(compare(accuracy, task, name, norm, "none")) for name in RANGES}
        write_json(METRICS / f"{task}.json", ranges)
    beside = cells(accuracy, paper)
    write_csv(METRICS / "paper.csv", beside)
    write_json(METRICS / "paper.json", agreement(beside))
    temperatures = [{**vars(one), **read_json(temperature(one))} for one in expected(norm, blocks[:1])]
    write_csv(METRICS / "temperatures.csv", polynomials(temperatures))
    for number, table in {
        1: accuracy_table(1, accuracy, "argmax", "short", norm, paper),
        2: accuracy_table(2, accuracy, "dictionary", "short", norm, paper),
        3: ablation_table(3, accuracy, "argmax", norm, paper),
        4: accuracy_table(4, accuracy, "argmax", "long", norm, paper),
        5: accuracy_table(5, accuracy, "dictionary", "long", norm, paper),
        6: ablation_table(6, accuracy, "dictionary", norm, paper),
    }.items():
        path = METRICS / "tables" / f"table{number}"
        write_text(path.with_suffix(".md"), table.markdown())
        write_text(path.with_suffix(".tex"), table.latex())
        write_csv(path.with_suffix(".csv"), table.numbers)


if __name__ == "__main__":
    run(main)
