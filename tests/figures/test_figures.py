"""What the figures show equals an independent computation from made-up results."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from vanishing_variance.engine.ranges import Growth, Range
from vanishing_variance.figures import accuracy, figure1, figure2, figure3, loss, proposition
from vanishing_variance.probe.fits import POOLED, fits, pooled
from vanishing_variance.probe.strategies import STRATEGIES
from vanishing_variance.results.accuracy import COLUMNS

LENGTHS = [4, 16, 64]


@pytest.mark.parametrize("layers", [1, 16])
def test_figure_1_has_a_line_a_layer_and_the_exponents_of_some(layers):
    exponents = dict(zip(STRATEGIES, (-0.5, -0.25, 0.25, -0.75), strict=True))
    rows = [
        (strategy, layer, 3, component, n, 100, (1 + layer + component) * n**exponent)
        for strategy, exponent in exponents.items()
        for layer in range(layers)
        for component in range(5)
        for n in LENGTHS
    ]
    frame = pd.DataFrame(rows, columns=["strategy", "layer", "head", "component", "length", "n", "deviation"])
    frame = frame.assign(model="a model", revision="6fceb34132ad", text="words.txt 1929826af263")
    drawing = figure1.draw(frame, fits(pooled(frame), POOLED))
    for axes, (strategy, exponent) in zip(drawing.figure.axes, exponents.items(), strict=True):
        number = f"{exponent:.2f}".replace("-", "−")
        labels = [text.get_text() for text in axes.get_legend().get_texts()]
        assert labels[0] == f"layer 0: {number} [{number}, {number}]"
        assert len(labels) == (2 if layers == 1 else 5)
        thick = [line for line in axes.lines if line.get_marker() == "o"]
        assert len(thick) == layers
        assert len(axes.lines) == layers + 1 + (5 if layers == 1 else 0)
        mean = stats.gmean(np.arange(1, 6)) * np.array(LENGTHS) ** exponent
        assert thick[0].get_ydata() == pytest.approx(mean), strategy


def features(scale):
    rng = np.random.default_rng(0)
    rows = [
        pd.DataFrame({"length": n, "where": where, "feature": f, "value": f + scale * rng.normal(size=300) / n**0.5})
        for n in LENGTHS
        for where in ("before", "after")
        for f in range(3)
    ]
    return pd.concat(rows, ignore_index=True)


def test_figure_2_has_kernel_densities_of_standardised_features():
    raw = {"none": features(1.0), "ln": features(2.0)}
    data = figure2.data(raw, LENGTHS)
    panels = {"none: O": ("none", "before"), "+ ln: O": ("ln", "before"), "+ ln: LayerNorm(O)": ("ln", "after")}
    assert list(data["panel"].unique()) == list(panels)
    for (panel, length, feature), of in data.groupby(["panel", "length", "feature"]):
        norm, where = panels[panel]
        frame = raw[norm]
        own = frame[(frame["where"] == where) & (frame["feature"] == feature)].set_index("length")["value"]
        values = (own[length] - own[4].mean()) / own[4].std()
        expected = stats.gaussian_kde(values)(of["value"])
        assert of["density"].to_numpy() == pytest.approx(expected, abs=0.01 * expected.max())
    drawing = figure2.draw(data, "argmax")
    heights = [one.get_paths()[0].get_extents().height for axes in drawing.figure.axes for one in axes.collections]
    assert len(heights) == len(panels) * 3 * 3
    assert max(heights) < 1  # so that no feature reaches the next
    constant = figure2.data({"none": features(1.0).assign(value=5.0)}, LENGTHS)
    assert constant.loc[constant["density"] > 0.1, "value"].abs().max() < 0.1


def moments():
    rows = [(n, where, 0.1 * n, 0.01, 8.0 / n, 0.2) for n in LENGTHS for where in ("before", "after")]
    return pd.DataFrame(rows, columns=["length", "where", "mean", "mean_se", "variance", "variance_se"])


def test_figure_3_is_relative_to_the_longest_trained_length():
    data = figure3.data({"none": moments(), "ln": moments()}, longest_trained=20).set_index("length")
    sigma = 0.5**0.5
    for line in ("none", "norm_before", "norm_after"):
        assert data[f"{line}_drift"].to_numpy() == pytest.approx(np.array([-1.2, 0, 4.8]) / sigma)
        assert data[f"{line}_drift_se"].to_numpy() == pytest.approx(0.01 * 2**0.5 / sigma * np.array([1, 0, 1]))
        assert data[f"{line}_variance"].tolist() == pytest.approx([4, 1, 0.25])
        assert data[f"{line}_variance_se"].tolist() == pytest.approx([0.4] * 3)
        assert data[f"{line}_sigma"].tolist() == pytest.approx([2**0.5, sigma, 0.125**0.5])
    left, right = figure3.draw(data.reset_index(), "argmax", "ln", 2048).figure.axes
    assert [line.get_ydata().tolist() for line in left.lines] == [data["none_drift"].tolist()] * 3
    assert [line.get_ydata().tolist() for line in right.lines] == [data["none_variance"].tolist()] * 3
    shorter = figure3.data({"none": moments(), "ln": moments()}, longest_trained=3)
    assert shorter["none_variance"].iloc[0] == 1


@pytest.fixture
def raw():
    rng = np.random.default_rng(0)
    rows = [
        (task, "short", norm, seed, temperature, n, rng.uniform())
        for task in ("argmax", "dictionary")
        for norm in ("ln", "none", "rms", "std")
        for seed in range(5)
        for temperature in ("plain", "adaptive", "fitted")
        for n in LENGTHS
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def test_accuracy_shows_means_with_their_t_intervals_and_the_papers(raw):
    data = accuracy.data(raw, ("argmax", "dictionary"), "short")
    places = ["task", "temperature", "norm", "length"]
    of_seeds = raw.groupby(places)["accuracy"]
    assert len(data) == len(of_seeds)
    for row in data.to_dict("records"):
        values = 100 * of_seeds.get_group(tuple(row[name] for name in places)).to_numpy()
        ends = stats.t.interval(0.95, len(values) - 1, values.mean(), stats.sem(values))
        assert (row["mean"], row["low"], row["high"]) == pytest.approx((values.mean(), *ends))
    assert list(data["norm"].unique()) == ["none", "std", "ln", "rms"]
    paper = pd.DataFrame(
        [("dictionary", "short", "plain", "ln", 16, "accuracy_pct", 97.6)],
        columns=["task", "range", "temperature", "variant", "length", "quantity", "value"],
    )
    steps = {"argmax": 4_000, "dictionary": 10_000}
    drawing = accuracy.draw(data, accuracy.papers(paper, "short"), (5, 16), steps)
    axes = drawing.figure.axes[3]
    ours = data.query("task == 'dictionary' and temperature == 'plain'").groupby("norm", sort=False)["mean"]
    assert [list(line.get_ydata()) for line in axes.lines[::2]] == [list(of) for _, of in ours]
    assert [list(line.get_ydata()) for line in axes.lines[1::2]] == [[], [], [97.6], []]


@pytest.mark.parametrize("last", [200, 80_000])
def test_loss_shows_the_mean_over_seeds_and_their_band_of_at_most_100_points(last):
    steps = np.arange(100, last + 1, 100)
    rows = [("argmax", norm, s, step, 100 / step + s) for norm in ("none", "ln") for s in range(3) for step in steps]
    frame = pd.DataFrame(rows, columns=["task", "norm", "seed", "step", "loss"])
    grown = Range(shortest=5, longest=256, growth=Growth(shape="geometric", start=16, until=1))
    [axes] = loss.draw(frame, grown).figure.axes
    each = 1 if last == 200 else 8
    means = 1 + (100 / steps).reshape(-1, each).mean(axis=1)
    for line, band in zip(axes.lines, axes.collections, strict=True):
        assert line.get_xdata().tolist() == steps[each - 1 :: each].tolist()
        assert line.get_ydata() == pytest.approx(means)
        box = band.get_paths()[0].get_extents()
        assert (box.ymin, box.ymax) == pytest.approx((means.min() - 1, means.max() + 1))


def test_the_propositions_lines_are_quantiles_relative_to_the_variance_of_an_item():
    rng = np.random.default_rng(0)
    rows = [
        (task, norm, d, n, 256, rng.uniform(), 0.1, 4.0 * d / n, 8.0 * d, 0.5 * d)
        for task in ("argmax", "dictionary")
        for norm in ("none", "ln")
        for n in LENGTHS
        for d in range(1, 12)
    ]
    names = ["variance", "variance_se", "predicted", "bound", "item_variance"]
    cells = pd.DataFrame(rows, columns=["task", "norm", "feature", "length", "n", *names])
    lines = proposition.data(cells)
    assert len(lines) == 12
    for row in lines.to_dict("records"):
        of = cells.query("task == @row['task'] and norm == @row['norm'] and length == @row['length']")
        low, median, high = np.quantile(of["variance"] / of["item_variance"], [0.1, 0.5, 0.9])
        assert (row["low"], row["median"], row["high"]) == pytest.approx((low, median, high))
        assert (row["predicted"], row["bound"]) == pytest.approx((8 / row["length"], 16))
    exponents = pd.DataFrame({"task": "argmax", "norm": ["none", "ln"] * 2, "exponent": [-1, -0.8, -1, -0.9]})
    exponents = pd.concat([exponents, exponents.assign(task="dictionary")]).assign(tail=16)
    drawing = proposition.draw(cells, exponents)
    assert [axes.get_title(loc="left")[-5:] for axes in drawing.figure.axes] == ["−1.00", "−0.85"] * 2
    assert [len(axes.lines) for axes in drawing.figure.axes] == [4] * 4
    assert drawing.figure.axes[0].lines[0].get_ydata().tolist() == lines["median"][:3].tolist()
