"""Switch params.yaml to the paper's scale; not a stage of the graph, which reads the result."""

from vanishing_variance.harness.script import Arguments, run
from vanishing_variance.harness.sections import PATH
from vanishing_variance.harness.yaml import edit_yaml, read_yaml
from vanishing_variance.params import check
from vanishing_variance.results.scale import PAPER_SCALE, changed


def main() -> None:
    parser = Arguments(description=__doc__, allow_abbrev=False)
    parser.add_argument("scale", choices=["paper"], help="back again: make default-scale")
    parser.parse_args()
    check(changed(read_yaml(PATH), PAPER_SCALE))
    for key, (old, new) in edit_yaml(PATH, PAPER_SCALE).items():
        print(f"{key}: {old} -> {new}")


if __name__ == "__main__":
    run(main)
