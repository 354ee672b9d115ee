"""Several files of results at once."""

from pathlib import Path
from typing import Any

import pandas as pd

from vanishing_variance.harness.files import write_json, write_text
from vanishing_variance.harness.frames import write_csv

# By name: a frame, written as CSV; a text; or a document, written as JSON.
Files = dict[str, Any]


def write_files(folder: Path, files: Files) -> None:
    """Write files into a folder, each as its content is."""
    for name, content in files.items():
        if isinstance(content, pd.DataFrame):
            write_csv(folder / name, content)
        elif isinstance(content, str):
            write_text(folder / name, content)
        else:
            write_json(folder / name, content)
