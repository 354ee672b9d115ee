"""Judge the paper's claims by what was measured."""

from vanishing_variance.claims.evidence import Evidence
from vanishing_variance.claims.judgement import judged
from vanishing_variance.claims.paper import CLAIMS
from vanishing_variance.harness.frames import read_csv, tidied
from vanishing_variance.harness.outputs import write_files
from vanishing_variance.harness.paths import METRICS, NETWORK, PLOTS
from vanishing_variance.harness.script import Arguments, run_script
from vanishing_variance.harness.sections import PATH
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.results.files import TrainingSetup
from vanishing_variance.results.inside import beside_accuracy
from vanishing_variance.results.runs import REFERENCE


def main() -> None:
    Arguments(description=__doc__).parse_args()
    trained = TrainingSetup.of({**read_yaml(PATH), **read_yaml(NETWORK)})
    accuracy = read_csv(METRICS / "accuracy.csv")
    evidence = Evidence(
        accuracy=accuracy,
        mechanism=beside_accuracy(read_csv(METRICS / "mechanism.csv"), accuracy),
        paper=read_csv(REFERENCE),
        training=trained,
        interventions=tidied(read_csv(METRICS / "interventions" / "accuracy.csv"), "accuracy"),
        exponents=read_csv(PLOTS / "proposition/proposition-exponents.csv"),
        fits=read_csv(PLOTS / "figures/figure1/figure1-fits.csv"),
        losses=read_csv(PLOTS / "data/loss.csv"),
    )
    write_files(METRICS, judged(CLAIMS, evidence))


if __name__ == "__main__":
    run_script(main)
