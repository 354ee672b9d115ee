import numpy as np
from made_up_tests import made_up, of_four_seeds
from scipy import stats

from vanishing_variance.results.metrics import overview, summary
from vanishing_variance.results.paired_tests import select


def test_metrics_hold_means_and_log10_p_by_role():
    compared = select(of_four_seeds(), "argmax", "short", "ln", "none")
    document = summary(compared)
    assert list(document) == ["plain", "adaptive", "fitted_with_labels"]
    assert document["plain"]["norm"]["16384"] == round(compared["treatment_mean"].iloc[1], 2)
    assert document["plain"]["none"].keys() == {"00016", "16384"}
    assert document["adaptive"]["log10_p"]["00016"] == round(np.log10(compared["p"].iloc[2]), 2)
    assert summary(compared.assign(p=np.nan))["plain"]["log10_p"] == {}


def test_an_overview_is_of_the_lengths_beyond_training():
    accuracy = made_up(lengths=(16, 64, 16384))
    document = overview(accuracy, "ln", {"short": 16, "long": 16384})
    assert list(document) == ["argmax", "dictionary"]
    plain = accuracy.query("task == 'argmax' and range == 'short' and temperature == 'plain' and length > 16")
    means = plain.groupby(["norm", "seed"])["accuracy"].mean().unstack("norm") * 100
    assert document["argmax"]["none"] == round(means["none"].mean(), 2)
    assert document["argmax"]["gain"] == round((means["ln"] - means["none"]).mean(), 2)
    assert document["argmax"]["log10_p"] == round(np.log10(stats.ttest_rel(means["ln"], means["none"]).pvalue), 2)
    assert "argmax_long" in overview(accuracy, "ln", {"long": 64})
    assert list(overview(made_up(seeds=1), "ln", {"short": 16})["argmax"]) == ["none", "norm", "gain"]
