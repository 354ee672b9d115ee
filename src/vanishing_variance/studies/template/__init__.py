"""The files that a new study begins with."""

from pathlib import Path

# By their names in a study's folder. The graph has another name here: DVC would run any dvc.yaml.
FILES = {"study.yaml": "study.yaml", "dvc.yaml": "graph.yaml"}


def filled(file: str, name: str) -> str:
    """Return one of FILES for a study of this name."""
    template = Path(__file__).with_name(FILES[file]).read_text()
    return template.replace("<study>", name)
