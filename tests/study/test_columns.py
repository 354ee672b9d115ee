from pathlib import Path

import pytest

from vanishing_variance.core.frames import read_csv
from vanishing_variance.study.columns import CSV

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = {"reference": "src/vanishing_variance/study/paper.csv", "pieces": "metrics/paper-scale/pieces.csv"} | {
    name: f"{'plots' if name.startswith(('figure1', 'loss', 'proposition')) else 'metrics'}/{name}.csv"
    for name in CSV.keys() - {"reference", "pieces"}
}


@pytest.mark.parametrize("name", sorted(CSV))
def test_results_in_git_have_the_columns_that_their_readers_ask_for(name):
    read_csv(ROOT / FOLDERS[name], *CSV[name])
