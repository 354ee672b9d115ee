import numpy as np
import pandas as pd
import pytest
from checkout import ROOT
from scipy import stats

from vanishing_variance.harness.frames import read_csv
from vanishing_variance.harness.runs import REFERENCE
from vanishing_variance.studies.choice import chosen, markdown, protocols

FOLDER = ROOT / "studies/protocols"


def made_up(**gains):
    """Results of three seeds a protocol, as the paper's but for a gain beyond training and none's first accuracy."""
    paper = read_csv(REFERENCE)
    cells = paper[(paper["task"] == "dictionary") & (paper["range"] == "short") & (paper["table"] == 2)]
    cells = cells[(cells["quantity"] == "accuracy_pct") & cells["variant"].isin(["none", "ln"])]
    frames = []
    for name, (gain, start, loss) in gains.items():
        for seed in range(3):
            one = cells.rename(columns={"variant": "norm"}).assign(protocol=name, seed=seed, loss=loss)
            base = one["rule"].map(cells[cells["variant"] == "none"].groupby("rule")["value"].mean())
            one["accuracy"] = (base + (gain + 0.1 * seed) * (one["norm"] == "ln")) / 100
            one.loc[(one["norm"] == "none") & (one["length"] == 16), "accuracy"] = start / 100
            frames.append(one)
    return pd.concat(frames), paper


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


def test_rules_choose_by_none_among_the_comparable_but_the_last_by_the_gain():
    found = protocols(*made_up(base=(-3, 99.0, 0.3), low=(9, 98.7, 0.1), near=(-1, 99.2, 0.2), gains=(2, 98.9, 0.4)))
    names = list(chosen(found).values())
    assert found["comparable"].tolist() == [True, False, True, True]
    assert names[:2] == ["base", "near"]
    assert names[4] == "near"  # low has the lowest loss, but is not comparable
    assert names[-1] == "gains"
