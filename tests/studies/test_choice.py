import numpy as np
import pandas as pd
import pytest
from checkout import ROOT
from scipy import stats

from vanishing_variance.harness.frames import read_csv
from vanishing_variance.results.runs import REFERENCE
from vanishing_variance.studies.choice import markdown, protocols

FOLDER = ROOT / "studies/protocols"


def test_the_file_in_git_is_current():
    text = (FOLDER / "choice.md").read_text()
    assert text == markdown(read_csv(FOLDER / "protocols.csv"), read_csv(REFERENCE))
    assert len(text.splitlines()) <= 30


def test_gains_and_their_intervals_are_those_of_the_raw_results():
    raw = pd.read_csv(FOLDER / "protocols.csv", keep_default_na=False)
    raw = raw[(raw["task"] == "dictionary") & (raw["rule"] == "plain") & (raw["length"] > 16)]
    found = protocols(read_csv(FOLDER / "protocols.csv"), read_csv(REFERENCE))
    assert len(found) == raw["protocol"].nunique()
    for one in found.itertuples():
        arms = raw[raw["protocol"] == one.Index].pivot_table(index="seed", columns="norm", values="accuracy") * 100
        test = stats.ttest_rel(arms["ln"], arms["none"])
        assert one.n == len(arms)
        assert (one.low, one.high) == pytest.approx(tuple(test.confidence_interval(0.95)))
        assert one.variance == pytest.approx(np.var(arms["ln"] - arms["none"], ddof=1) / one.n)
        assert one.error == pytest.approx(100 - arms["none"].mean())
