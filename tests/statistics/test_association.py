import numpy as np
import pandas as pd
import pytest
from statsmodels.api import OLS

from vanishing_variance.statistics import association as module
from vanishing_variance.statistics.association import association


def made(seed=0, seeds=8, lengths=5, norms=3):
    """A frame of a row a seed, length and norm: quantity and another, accuracy, group (the length) and cluster."""
    draw = np.random.default_rng(seed)
    cluster, group, _ = (axis.ravel() for axis in np.indices((seeds, lengths, norms)))
    quantity = draw.normal(size=len(group)) + 2 * group + 0.5 * draw.normal(size=seeds)[cluster]
    other = quantity + draw.normal(size=len(group)) - group
    noise = draw.normal(size=len(group)) + 0.5 * draw.normal(size=seeds)[cluster]
    accuracy = 0.5 * quantity - 3 * group + 0.3 * other + noise
    return pd.DataFrame(
        {"quantity": quantity, "other": other, "accuracy": accuracy, "group": group, "cluster": cluster}
    )


def call(frame, seed=0, given=None, **changes):
    columns = {name: frame[name].to_numpy() for name in ("quantity", "accuracy", "group", "cluster")} | changes
    rng = np.random.default_rng(seed)
    return association(**columns, rng=rng, given=given if given is None else frame[given].to_numpy())


def fitted(frame, *variables):
    """The least-squares fit of the accuracy by these and an intercept for every group, by statsmodels."""
    dummies = pd.get_dummies(frame["group"], dtype=float).to_numpy()
    return OLS(frame["accuracy"].to_numpy(), np.hstack([frame[[*variables]].to_numpy(), dummies])).fit()


@pytest.mark.parametrize("given", [None, "other"])
def test_r2_is_what_a_regression_with_dummy_variables_explains(given):
    before = [given] if given else []
    for seed in range(30):
        frame = made(seed, seeds=3, lengths=3, norms=2).sample(frac=0.6, random_state=seed)
        without, with_it = fitted(frame, *before), fitted(frame, "quantity", *before)
        found = call(frame, given=given)
        assert found.n == len(frame)
        assert found.r2 == pytest.approx(1 - with_it.ssr / without.ssr, rel=1e-9, abs=1e-12)
        assert found.r == pytest.approx(np.sign(with_it.params[0]) * found.r2**0.5)


def plainly(frame):
    """The correlation within groups, group by group."""
    within = frame - frame.groupby("group").transform("mean")
    x, y = within["quantity"].to_numpy(), within["accuracy"].to_numpy()
    return (x @ y) / ((x @ x) * (y @ y)) ** 0.5


@pytest.mark.parametrize("group", ["group", "cluster"])
def test_the_interval_is_that_of_whole_clusters_drawn_again(monkeypatch, group):
    """One by one: a group that is inside a cluster counts twice where that is drawn twice."""
    monkeypatch.setattr(module, "RESAMPLES", 99)
    frame = made(1, seeds=6, lengths=6, norms=2).sample(frac=0.5, random_state=1)  # some groups end up alone
    frame["group"] = frame[group]
    drawn = []
    for choice in np.random.default_rng(5).integers(6, size=(99, 6)):
        parts = [frame[frame["cluster"] == cluster] for cluster in choice]
        if group == "cluster":
            parts = [part.assign(group=copy) for copy, part in enumerate(parts)]
        drawn.append(plainly(pd.concat(parts)))
    found = call(frame, seed=5)
    assert (found.r, found.note) == (pytest.approx(plainly(frame), rel=1e-9), "")
    # Of 99 resamples the 2.5th and the 97.5th: half way between two.
    r, r2 = np.sort(drawn), np.sort(np.square(drawn))
    assert (found.r_low, found.r_high) == pytest.approx(((r[1] + r[2]) / 2, (r[96] + r[97]) / 2), rel=1e-9)
    assert (found.r2_low, found.r2_high) == pytest.approx(((r2[1] + r2[2]) / 2, (r2[96] + r2[97]) / 2), rel=1e-9)


def test_what_has_no_correlation_or_interval_is_answered_in_words():
    frame = made()
    groups = frame["group"].to_numpy()
    found = call(frame, accuracy=groups * 0.1)
    assert found.note == "no variation within groups of accuracy: no correlation"
    assert np.isnan([found.r, found.r_low, found.r2, found.r2_high]).all()
    assert "of the given" in call(frame.assign(other=groups), given="other").note
    same = frame.assign(other=2 * frame["quantity"] + groups)
    assert "nothing to explain" in call(same, given="other").note
    few = made(seeds=4)
    found = call(few)
    assert (found.r, found.note) == (pytest.approx(plainly(few)), "fewer than 5 clusters: no interval")
    assert np.isnan([found.r_low, found.r2_high]).all()
