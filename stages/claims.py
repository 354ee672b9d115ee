"""Judge the paper's claims by what was measured."""

from pathlib import Path

import pandas as pd

from vanishing_variance.claims.evidence import Evidence
from vanishing_variance.claims.judged import Compared
from vanishing_variance.claims.judgement import judge
from vanishing_variance.claims.paper import CLAIMS
from vanishing_variance.claims.table import counts, markdown
from vanishing_variance.engine.ranges import Range, training_steps
from vanishing_variance.engine.seeds import Index
from vanishing_variance.harness.columns import CSV, PARQUET
from vanishing_variance.harness.files import read_document, write_json, write_text
from vanishing_variance.harness.frames import read_csv, read_frame
from vanishing_variance.harness.runs import INTERVENTIONS, METRICS, PLOTS, RANGES, REFERENCE, TASKS
from vanishing_variance.harness.script import Arguments, run
from vanishing_variance.harness.sections import PATH, get_param
from vanishing_variance.harness.yaml import read_yaml


def judge_results(metrics: Path, plots: Path | None, path: Path) -> None:
    """Write the claims and verdicts of the results in these folders; `path` is their params.yaml.

    Without `plots`, of a record: the claims that accuracies and the inside of models decide.
    """
    params = read_yaml(path)
    ranges: dict[str, Range] = {name: get_param(params, f"ranges.{name}", Range) for name in RANGES}
    root: int = get_param(params, "seed", Index)
    columns = PARQUET["interventions"]
    evidence = Evidence(
        accuracy=read_csv(metrics / "accuracy.csv", *CSV["accuracy"]),
        mechanism=read_csv(metrics / "mechanism.csv", *CSV["mechanism"]),
        interventions=read_frame(INTERVENTIONS / "accuracy.parquet", *columns) if plots else pd.DataFrame(),
        exponents=_read(plots, "proposition", "proposition-exponents"),
        fits=_read(plots, "figures/figure1", "figure1-fits"),
        capacity=read_document(metrics / "capacity.json", dict[str, Compared]) if plots else {},
        losses=_read(plots, "data", "loss"),
        paper=read_csv(REFERENCE, *CSV["reference"]),
        longest={name: trained.longest for name, trained in ranges.items()},
        steps={(task, name): training_steps(params, task, name) for task in TASKS for name in RANGES},
        root=root,
    )
    document = judge([claim for claim in CLAIMS if plots or claim.rule.recorded], evidence)
    write_json(metrics / "claims.json", document)
    write_json(metrics / "verdicts.json", counts(document))
    write_text(metrics / "claims.md", markdown(document))


def _read(plots: Path | None, folder: str, name: str) -> pd.DataFrame:
    return read_csv(plots / folder / f"{name}.csv", *CSV[name]) if plots else pd.DataFrame()


def main() -> None:
    Arguments(description=__doc__).parse_args()
    judge_results(METRICS, PLOTS, PATH)


if __name__ == "__main__":
    run(main)
