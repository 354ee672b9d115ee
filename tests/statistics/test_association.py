import numpy as np
import pandas as pd
import pytest
from statsmodels.formula.api import ols

from vanishing_variance.statistics import association as module
from vanishing_variance.statistics.association import association


def rng(seed=0):
    return np.random.default_rng(seed)


def made(seed=0, seeds=8, lengths=5, norms=3, slope=0.5, spread=0.5):
    """A frame of a row a seed, length and norm: quantity and another, accuracy, group (the length) and cluster."""
    draw = rng(seed)
    cluster, group, _ = (axis.ravel() for axis in np.indices((seeds, lengths, norms)))
    quantity = draw.normal(size=len(group)) + 2 * group + spread * draw.normal(size=seeds)[cluster]
    other = quantity + draw.normal(size=len(group)) - group
    noise = draw.normal(size=len(group)) + spread * draw.normal(size=seeds)[cluster]
    accuracy = slope * quantity - 3 * group + 0.3 * other + noise
    return pd.DataFrame(
        {"quantity": quantity, "other": other, "accuracy": accuracy, "group": group, "cluster": cluster}
    )


def call(frame, seed=0, given=None, **changes):
    columns = {name: frame[name].to_numpy() for name in ("quantity", "accuracy", "group", "cluster")} | changes
    return association(**columns, rng=rng(seed), given=given if given is None else frame[given].to_numpy())


def explained(frame, formula):
    return ols(f"{formula} + C(group)", frame).fit().ssr


def test_r2_is_what_a_regression_with_dummy_variables_explains():
    for seed in range(100):
        frame = made(seed, seeds=3, lengths=3, norms=2).sample(frac=0.6, random_state=seed)
        without, with_it = explained(frame, "accuracy ~ 1"), explained(frame, "accuracy ~ quantity")
        found = call(frame)
        assert found.r2 == pytest.approx(1 - with_it / without, rel=1e-9, abs=1e-12)
        assert found.n == len(frame)
        slope = ols("accuracy ~ quantity + C(group)", frame).fit().params["quantity"]
        assert found.r == pytest.approx(np.sign(slope) * found.r2**0.5)
        without, with_it = (explained(frame, f"accuracy ~ other {more}") for more in ("", "+ quantity"))
        assert call(frame, given="other").r2 == pytest.approx(1 - with_it / without, rel=1e-9, abs=1e-12)


def plainly(frame, given=None):
    """r and the share explained of one resample, group by group."""
    variables = ["quantity", "other", "accuracy"]
    within = frame[variables] - frame.groupby("group")[variables].transform("mean")
    x, y = within["quantity"].to_numpy(), within["accuracy"].to_numpy()
    if given:
        z = within[given].to_numpy()
        x, y = x - z * (x @ z) / (z @ z), y - z * (y @ z) / (z @ z)
    return (x @ y) / ((x @ x) * (y @ y)) ** 0.5


@pytest.mark.parametrize("given", [None, "other"])
@pytest.mark.parametrize("grouping", ["length", "model"])
def test_the_interval_is_that_of_whole_clusters_drawn_again(monkeypatch, grouping, given):
    """One by one: a group that is inside a cluster counts twice where that is drawn twice."""
    monkeypatch.setattr(module, "RESAMPLES", 99)
    frame = made(1, seeds=6, lengths=6, norms=2).sample(frac=0.5, random_state=1)  # some groups end up alone
    if grouping == "model":
        frame["group"] = frame["cluster"]
    drawn = []
    for choice in rng(5).integers(6, size=(99, 6)):
        parts = []
        for copy, cluster in enumerate(choice):
            part = frame[frame["cluster"] == cluster]
            parts.append(part.assign(group=copy) if grouping == "model" else part)
        drawn.append(plainly(pd.concat(parts), given))
    found = call(frame, seed=5, given=given)
    assert found.note == ""
    # Of 99 resamples the 2.5th and the 97.5th: half way between two.
    r, r2 = np.sort(drawn), np.sort(np.square(drawn))
    assert (found.r_low, found.r_high) == pytest.approx(((r[1] + r[2]) / 2, (r[96] + r[97]) / 2), rel=1e-9)
    assert (found.r2_low, found.r2_high) == pytest.approx(((r2[1] + r2[2]) / 2, (r2[96] + r2[97]) / 2), rel=1e-9)
    assert found.r == pytest.approx(plainly(frame, given), rel=1e-9)


def test_the_interval_holds_the_truth_nearly_95_times_in_100(monkeypatch):
    """With clusters as such; taking observations for independent holds it less often."""
    monkeypatch.setattr(module, "RESAMPLES", 499)
    truth = call(made(0, seeds=20_000, lengths=2, norms=2, spread=2.0), cluster=np.zeros(80_000, int)).r
    held = alone = 0
    for seed in range(300):
        frame = made(seed + 1, seeds=25, lengths=2, norms=2, spread=2.0)
        by_seed = call(frame, seed)
        held += by_seed.r_low < truth < by_seed.r_high
        by_row = call(frame, seed, cluster=np.arange(len(frame)))
        alone += by_row.r_low < truth < by_row.r_high
    assert held / 300 == pytest.approx(0.93, abs=0.035)
    assert alone / 300 < 0.85


def test_of_eight_clusters_the_interval_holds_the_truth_about_92_times_in_100():
    rng, held = np.random.default_rng(0), 0
    for _ in range(300):
        quantity = rng.normal(size=(8, 11))
        accuracy = 0.6 * quantity + 0.8 * rng.normal(size=(8, 11))
        length, seed = np.tile(np.arange(11), 8), np.repeat(np.arange(8), 11)
        found = association(quantity.ravel(), accuracy.ravel(), length, seed, rng)
        held += found.r_low <= 0.6 <= found.r_high
    assert held / 300 == pytest.approx(0.92, abs=0.035)


def test_what_does_not_vary_within_groups_is_answered_in_words():
    frame = made()
    groups = frame["group"].to_numpy()
    for change, said in (
        ({"quantity": groups * 0.1}, "the quantity"),
        ({"accuracy": groups * 0.1}, "accuracy"),
        ({"quantity": groups * 0.1, "accuracy": np.zeros(len(frame))}, "accuracy and the quantity"),
        ({"group": np.arange(len(frame))}, "accuracy and the quantity"),
    ):
        found = call(frame, **change)
        assert found.note == f"no variation within groups of {said}: no correlation"
        assert np.isnan([found.r, found.r_low, found.r2, found.r2_high]).all()
    flat = frame.assign(other=groups)
    assert call(flat, given="other").note == "no variation within groups of the given: no correlation"
    same = frame.assign(other=2 * frame["quantity"] + groups)
    assert call(same, given="other").note == "the given leaves nothing to explain: no correlation"
    nearly = frame.assign(other=frame["quantity"] + 1e-3 * frame["other"].rank())
    assert call(nearly, given="other").r == pytest.approx(plainly(nearly, "other"), rel=1e-6)


def test_one_cluster_has_no_interval():
    frame = made(seeds=1, lengths=4)
    found = call(frame)
    assert found.r == pytest.approx(plainly(frame))
    assert np.isnan([found.r_low, found.r2_high]).all()
    assert found.note == "fewer than 5 clusters: no interval"


def test_resamples_in_which_nothing_varies_are_counted():
    """Of five seeds with one observation a length, one resample in 625 is one seed five times."""
    found = call(made(seeds=5, lengths=6, norms=1))
    left_out = int(found.note.split()[0])
    assert found.note == f"{left_out} of 1999 resamples left out: nothing varies"
    assert left_out / 1999 == pytest.approx(1 / 625, abs=0.0015)
    assert -1 <= found.r_low < found.r < found.r_high <= 1
    assert call(made(seeds=30)).note == ""


def test_units_do_not_matter():
    frame = made()
    found = call(frame)
    other = call(frame, quantity=1e-12 * frame["quantity"].to_numpy(), accuracy=1e6 + frame["accuracy"].to_numpy())
    for name in ("r", "r_low", "r_high", "r2", "r2_low", "r2_high"):
        assert getattr(other, name) == pytest.approx(getattr(found, name), rel=1e-6)
    labels = frame["cluster"].map(lambda number: f"seed {number}").to_numpy(dtype=str)
    assert call(frame, cluster=labels) == found


@pytest.mark.parametrize(
    "change",
    [
        {"quantity": np.ones(3)},
        {"quantity": np.full(120, np.inf)},
        {"accuracy": np.full(120, np.nan)},
        {"group": np.ones((120, 1))},
    ],
)
@pytest.mark.usefixtures("unchecked")
def test_what_is_not_observations_is_refused(change):
    with pytest.raises(ValueError, match="association needs"):
        call(made(), **change)
