"""Begin a study: studies/<name>/ with a commented study.yaml, and the graph that all studies have."""

import re
from pathlib import Path

from vanishing_variance.harness.errors import InputError, shown
from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.script import Arguments, run_script
from vanishing_variance.studies.files import STUDIES
from vanishing_variance.studies.plan import write_plan
from vanishing_variance.studies.study import NAME

# By their names in a study's folder. The graph has another name here: DVC would run any dvc.yaml.
FILES = {"study.yaml": "study.yaml", "dvc.yaml": "graph.yaml"}


def main() -> None:
    """Begin the study that the argument names. Raises InputError."""
    parser = Arguments(description=__doc__)
    parser.add_argument("study", help="its name: a-z, 0-9 and -")
    name = parser.parse_args().study
    if not re.fullmatch(NAME, name):
        raise InputError(f"NEW: {shown(name)} must be 1 to 64 characters of a-z, 0-9, _ and -")
    folder = STUDIES / name
    if folder.exists():
        raise InputError(f"NEW: {folder} exists; choose another name, or run it: make study NAME={name}")
    write_text(folder / "study.yaml", filled("study.yaml", name))
    write_plan(name)  # before the graph: DVC, of whichever command, reads the lists of tasks and blocks from it
    write_text(folder / "dvc.yaml", filled("dvc.yaml", name))
    print(f"{folder / 'study.yaml'} is an example to edit; then: git add {folder}; make study NAME={name}")


def filled(file: str, name: str, *, tuned: bool = False) -> str:
    """Return one of FILES for a study of this name; of one that is `tuned` the graph depends on its choice."""
    text = (Path(__file__).parent / "template" / FILES[file]).read_text()
    choice = ", studies/<study>/choice.yaml" if tuned else ""
    return text.replace("<choice>", choice).replace("<study>", name)


if __name__ == "__main__":
    run_script(main)
