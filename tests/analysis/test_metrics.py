import numpy as np
from scipy import stats
from test_tables import made_up, paired_up

from vanishing_variance.analysis.metrics import overview, summary
from vanishing_variance.analysis.paired_tests import select


def test_metrics_hold_means_and_log10_p_by_role():
    compared = select(paired_up(made_up()), "argmax", "short", "ln", "none")
    document = summary(compared)
    assert document["plain"]["norm"]["16384"] == round(compared["treatment_mean"].iloc[1], 2)
    assert document["adaptive"]["log10_p"]["00016"] == round(np.log10(compared["p"].iloc[2]), 2)
    assert document["plain"]["none"].keys() == {"00016", "16384"}
    assert list(document) == ["plain", "adaptive", "fitted_with_labels"]


def test_metrics_leave_out_a_p_that_does_not_exist():
    document = summary(select(paired_up(made_up(seeds=1)), "argmax", "short", "ln", "none"))
    assert document["plain"]["log10_p"] == {}
    assert len(document["plain"]["none"]) == 2


def test_an_overview_is_of_the_lengths_beyond_training():
    accuracy = made_up(lengths=(16, 64, 16384))
    document = overview(accuracy, "ln", {"short": 16, "long": 256})
    assert list(document) == ["argmax", "argmax_long", "dictionary", "dictionary_long"]
    plain = accuracy.query("task == 'argmax' and range == 'short' and temperature == 'plain' and length > 16")
    means = plain.groupby(["norm", "seed"])["accuracy"].mean().unstack("norm") * 100
    assert document["argmax"]["none"] == round(means["none"].mean(), 2)
    assert document["argmax"]["gain"] == round((means["ln"] - means["none"]).mean(), 2)
    assert document["argmax"]["log10_p"] == round(np.log10(stats.ttest_rel(means["ln"], means["none"]).pvalue), 2)
    only = accuracy.query("task == 'argmax' and range == 'long' and temperature == 'plain' and length == 16384")
    ours = only.groupby("norm")["accuracy"].mean()["ln"] * 100
    assert document["argmax_long"]["norm"] == round(ours, 2)


def test_an_overview_leaves_out_what_does_not_exist():
    one = overview(made_up(seeds=1), "ln", {"short": 16})
    assert list(one["argmax"]) == ["none", "norm", "gain"]
    assert overview(made_up(lengths=(16,)), "ln", {"short": 16, "long": 256}) == {}
