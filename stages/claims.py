"""Judge the paper's claims by what was measured."""

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
from vanishing_variance.study import METRICS, PLOTS, RANGES, REFERENCE


def main() -> None:
    Arguments(description=__doc__).parse_args()
    params = read_yaml(PATH)
    ranges: dict[str, Range] = {name: take(params, f"ranges.{name}", Range) for name in RANGES}
    root: int = take(params, "seed", Index)
    fits = read_csv(PLOTS / "figure1-fits.csv", *CSV["figure1-fits"])
    probed = read_csv(PLOTS / "figure1.csv", *CSV["figure1"])
    evidence = Evidence(
        accuracy=read_csv(METRICS / "accuracy.csv", *CSV["accuracy"]),
        mechanism=read_csv(METRICS / "mechanism.csv", *CSV["mechanism"]),
        exponents=read_csv(PLOTS / "proposition-exponents.csv", *CSV["proposition-exponents"]),
        fits=fits.assign(model=probed["model"].iloc[0]),
        capacity=read_document(METRICS / "capacity.json", dict[str, Compared]),
        paper=read_csv(REFERENCE, *CSV["reference"]),
        longest={name: trained.longest for name, trained in ranges.items()},
        root=root,
    )
    document = judge(CLAIMS, evidence)
    write_json(METRICS / "claims.json", document)
    write_json(METRICS / "verdicts.json", counts(document))
    write_text(METRICS / "claims.md", markdown(document))


if __name__ == "__main__":
    run(main)
