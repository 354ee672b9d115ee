"""Judge the paper's claims by what was measured."""

from vanishing_variance.claims.evidence import Evidence
from vanishing_variance.claims.judgement import judged
from vanishing_variance.claims.paper import CLAIMS
from vanishing_variance.engine.config import Norm
from vanishing_variance.engine.ranges import ranges_of
from vanishing_variance.harness.frames import read_csv, tidied, write_files
from vanishing_variance.harness.paths import METRICS, PLOTS
from vanishing_variance.harness.script import Arguments, run_script
from vanishing_variance.harness.sections import PATH, get_param
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.results.files import TrainingSetup
from vanishing_variance.results.runs import REFERENCE, lines_of
from vanishing_variance.results.schema import beside_accuracy, by_rule


def main() -> None:
    Arguments(description=__doc__).parse_args()
    params = read_yaml(PATH)
    lines = lines_of(get_param(params, "norm", Norm), ranges_of(params))
    results = read_csv(METRICS / "results.csv")
    evidence = Evidence(
        accuracy=by_rule(results),
        mechanism=beside_accuracy(results),
        paper=read_csv(REFERENCE),
        training=TrainingSetup.of(params, lines),
        interventions=tidied(read_csv(METRICS / "interventions" / "accuracy.csv"), "accuracy"),
        exponents=read_csv(PLOTS / "proposition/proposition-exponents.csv"),
        fits=read_csv(PLOTS / "figures/figure1/figure1-fits.csv"),
        losses=read_csv(PLOTS / "data/loss.csv"),
    )
    write_files(METRICS, judged(CLAIMS, evidence))


if __name__ == "__main__":
    run_script(main)
