from pathlib import Path

import pytest

from vanishing_variance.core.frames import read_csv
from vanishing_variance.study.columns import CSV

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = {
    **{"reference": "src/vanishing_variance/study/paper.csv", "pieces": "metrics/paper-scale/pieces.csv"},
    **{name: f"metrics/{name}.csv" for name in ("accuracy", "mechanism", "explained")},
    **{name: f"metrics/tables/{name}.csv" for name in ("tests", "paper")},
    "table": "metrics/tables/table1.csv",
    "shares": "metrics/interventions/shares.csv",
    **{name: f"plots/proposition/{name}.csv" for name in ("proposition", "proposition-exponents")},
    **{"loss": "plots/data/loss.csv", "figure1": "plots/figure1.csv"},
    "figure1-fits": "plots/figures/figure1/figure1-fits.csv",
}


@pytest.mark.parametrize("name", sorted(CSV))
def test_results_in_git_have_the_columns_that_their_readers_ask_for(name):
    read_csv(ROOT / FOLDERS[name], *CSV[name])
