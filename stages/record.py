"""Copy the results that are there to metrics/<name>/, with what made them; not a stage of the graph."""

import re
from pathlib import Path

from vanishing_variance.command import Arguments, run
from vanishing_variance.io.files import write_json, write_text
from vanishing_variance.io.machine import machine
from vanishing_variance.io.yaml import read_yaml
from vanishing_variance.params.base import PATH
from vanishing_variance.params.seeds import seeds
from vanishing_variance.study import METRICS, PLOTS

# Training losses are left out: they are in DVC's cache with the weights.
RESULTS = ("*.json", "*.csv", "tables/*")
FIGURES = ("accuracy*.csv", "figure*.csv", "proposition*.csv")


def main() -> None:
    parser = Arguments(description=__doc__, allow_abbrev=False)
    parser.add_argument("name", help="of the folder, for example paper-scale")
    parser.add_argument("--minutes", type=float, required=True, help="how long it all took")
    parser.add_argument("--note", default="", help="what is special about this run")
    chosen = parser.parse_args()
    if not re.fullmatch(r"[a-z][a-z0-9-]*", chosen.name) or chosen.name == "tables":
        parser.error(f"name: {chosen.name!r} must be lower-case letters, digits and hyphens, and not tables")
    params, to = read_yaml(PATH), METRICS / chosen.name
    trained = [seed for block in params["blocks"] for seed in seeds(block, params["seeds_per_block"])]
    for folder, patterns in ((METRICS, RESULTS), (PLOTS, FIGURES)):
        for path in sorted(path for pattern in patterns for path in folder.glob(pattern)):
            write_text(to / path.relative_to(folder), path.read_text(encoding="utf-8"))
    write_text(to / PATH.name, Path(PATH).read_text(encoding="utf-8"))
    provenance = {**machine(), "minutes": chosen.minutes, "seeds": len(trained), "note": chosen.note}
    write_json(to / "provenance.json", provenance)


if __name__ == "__main__":
    run(main)
