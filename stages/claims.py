"""Judge the paper's claims by what was measured."""

from pathlib import Path

import pandas as pd

from vanishing_variance.claims.claim import judge
from vanishing_variance.claims.evidence import Evidence
from vanishing_variance.claims.paper import CLAIMS
from vanishing_variance.claims.table import counts, markdown
from vanishing_variance.columns import CSV
from vanishing_variance.command import Arguments, run
from vanishing_variance.io.documents import Compared, read_document
from vanishing_variance.io.files import write_json, write_text
from vanishing_variance.io.frames import read_csv
from vanishing_variance.io.yaml import read_yaml
from vanishing_variance.params.base import PATH, take
from vanishing_variance.params.ranges import Range
from vanishing_variance.params.seeds import Index
from vanishing_variance.scale import steps
from vanishing_variance.study import METRICS, PLOTS, RANGES, REFERENCE, TASKS


def judge_results(metrics: Path, plots: Path | None, path: Path) -> None:
    """Write the claims and verdicts of the results in these folders; `path` is their params.yaml.

    Without `plots`, of a record: the claims that accuracies and the inside of models decide.
    """
    params = read_yaml(path)
    ranges: dict[str, Range] = {name: take(params, f"ranges.{name}", Range) for name in RANGES}
    root: int = take(params, "seed", Index)
    evidence = Evidence(
        accuracy=read_csv(metrics / "accuracy.csv", *CSV["accuracy"]),
        mechanism=read_csv(metrics / "mechanism.csv", *CSV["mechanism"]),
        interventions=read_csv(metrics / "interventions.csv", *CSV["interventions"]) if plots else pd.DataFrame(),
        exponents=_read(plots, "proposition-exponents"),
        fits=_read(plots, "figure1-fits").assign(model=_read(plots, "figure1").get("model", pd.Series([""])).iloc[0]),
        capacity=read_document(metrics / "capacity.json", dict[str, Compared]) if plots else {},
        losses=_read(plots, "loss"),
        paper=read_csv(REFERENCE, *CSV["reference"]),
        longest={name: trained.longest for name, trained in ranges.items()},
        steps={(task, name): steps(params, task, name) for task in TASKS for name in RANGES},
        root=root,
    )
    document = judge([claim for claim in CLAIMS if plots or claim.recorded], evidence)
    write_json(metrics / "claims.json", document)
    write_json(metrics / "verdicts.json", counts(document))
    write_text(metrics / "claims.md", markdown(document))


def _read(plots: Path | None, name: str) -> pd.DataFrame:
    return read_csv(plots / f"{name}.csv", *CSV[name]) if plots else pd.DataFrame()


def main() -> None:
    Arguments(description=__doc__).parse_args()
    judge_results(METRICS, PLOTS, PATH)


if __name__ == "__main__":
    run(main)
