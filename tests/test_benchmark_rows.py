import os
import subprocess
import sys

import pandas as pd
from checkout import ROOT

from benchmarks.rows import read_rows
from vanishing_variance.core.frames import write_csv
from vanishing_variance.core.locks import exclusive_lock

COLUMNS = ("name", "value")
ADD = """
import sys; from pathlib import Path; import pandas as pd; from benchmarks.rows import add_rows
add_rows(Path(sys.argv[1]), pd.DataFrame({"value": [2], "name": ["b"]}), ("name", "value"))
"""


def test_rows_that_another_process_adds_meanwhile_are_kept(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "some.csv"
    here = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{ROOT / 'src'}"}
    with exclusive_lock(str(path)):
        other = subprocess.Popen([sys.executable, "-c", ADD, str(path)], env=here, stderr=subprocess.PIPE, text=True)
        assert "another process does this here; waiting" in other.stderr.readline()
        write_csv(path, pd.DataFrame({"name": ["a"], "value": [1]}))
    _, said = other.communicate(timeout=60)
    assert (other.returncode, said) == (0, "")
    assert list(read_rows(path, COLUMNS).itertuples(index=False, name=None)) == [("a", 1), ("b", 2)]


def test_without_a_file_there_are_no_rows(tmp_path):
    assert read_rows(tmp_path / "none.csv", COLUMNS).columns.tolist() == [*COLUMNS]
