"""What the figures show equals an independent computation from made-up results."""

from itertools import product

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
TASKS = ("argmax", "dictionary")


@pytest.mark.parametrize(("layers", "in_legend"), [(1, 2), (16, 3)])
def test_figure_1_has_a_line_a_layer_and_the_exponents_of_some(layers, in_legend):
    rows = []
    for strategy, layer, component, length in product(STRATEGIES, range(layers), range(5), LENGTHS):
        deviation = (1 + layer + component) * length**-0.25
        rows.append((strategy, layer, 3, component, length, 100, deviation))
    frame = pd.DataFrame(rows, columns=["strategy", "layer", "head", "component", "length", "n", "deviation"])
    frame = frame.assign(model="a model", revision="6fceb34132ad", text="words.txt 1929826af263")
    drawing = figure1.draw(frame, fits(pooled(frame), POOLED))
    of_first_layer = stats.gmean(np.arange(1, 6)) * np.array(LENGTHS) ** -0.25
    assert len(drawing.figure.axes) == len(STRATEGIES)
    for axes in drawing.figure.axes:
        labels = [text.get_text() for text in axes.get_legend().get_texts()]
        assert len(labels) == in_legend
        assert labels[0] == "layer 0: −0.25 [−0.25, −0.25]"
        lines = [line.get_ydata() for line in axes.lines if line.get_marker() == "o"]
        assert len(lines) == layers
        assert lines[0] == pytest.approx(of_first_layer)


def features(scale):
    rng = np.random.default_rng(0)
    parts = []
    for length, where, feature in product(LENGTHS, ("before", "after"), range(3)):
        values = feature + scale * rng.normal(size=100) / length**0.5
        parts.append(pd.DataFrame({"length": length, "where": where, "feature": feature, "value": values}))
    return pd.concat(parts, ignore_index=True)


def test_figure_2_has_kernel_densities_of_standardised_features():
    raw = {"none": features(1.0), "ln": features(2.0)}
    data = figure2.data(raw, LENGTHS)
    panels = {"none: O": ("none", "before"), "+ ln: O": ("ln", "before"), "+ ln: LayerNorm(O)": ("ln", "after")}
    assert list(data["panel"].unique()) == list(panels)
    for (panel, length, feature), densities in data.groupby(["panel", "length", "feature"]):
        norm, where = panels[panel]
        chosen = (raw[norm]["where"] == where) & (raw[norm]["feature"] == feature)
        values = raw[norm][chosen].set_index("length")["value"]
        standardised = (values[length] - values[4].mean()) / values[4].std()
        expected = stats.gaussian_kde(standardised)(densities["value"])
        assert densities["density"].to_numpy() == pytest.approx(expected, abs=0.01 * expected.max())
    drawing = figure2.draw(data, "argmax")
    ridges = [ridge for axes in drawing.figure.axes for ridge in axes.collections]
    heights = [ridge.get_paths()[0].get_extents().height for ridge in ridges]
    assert len(heights) == len(panels) * 3 * 3
    assert max(heights) < 1  # so that no feature reaches the next


def test_figure_2_has_a_narrow_density_of_a_constant_feature():
    constant = figure2.data({"none": features(1.0).assign(value=5.0)}, LENGTHS)
    assert constant.loc[constant["density"] > 0.1, "value"].abs().max() < 0.1


def moments():
    frame = pd.DataFrame(list(product(LENGTHS, ("before", "after"))), columns=["length", "where"])
    return frame.assign(mean=0.1 * frame["length"], mean_se=0.01, variance=8 / frame["length"], variance_se=0.2)


def test_figure_3_is_relative_to_the_longest_trained_length():
    data = figure3.data({"none": moments(), "ln": moments()}, longest_trained=20).set_index("length")
    sigma = 0.5**0.5
    for line in ("none", "norm_before", "norm_after"):
        assert data[f"{line}_drift"].tolist() == pytest.approx([-1.2 / sigma, 0, 4.8 / sigma])
        off = 0.01 * 2**0.5 / sigma
        assert data[f"{line}_drift_se"].tolist() == pytest.approx([off, 0, off])
        assert data[f"{line}_variance"].tolist() == pytest.approx([4, 1, 0.25])
        assert data[f"{line}_variance_se"].tolist() == pytest.approx([0.4] * 3)
        assert data[f"{line}_sigma"].tolist() == pytest.approx([2**0.5, sigma, 0.125**0.5])
    left, right = figure3.draw(data.reset_index(), "argmax", "ln", 2048).figure.axes
    for axes, name in ((left, "none_drift"), (right, "none_variance")):
        assert [line.get_ydata().tolist() for line in axes.lines] == [data[name].tolist()] * 3


def test_figure_3_is_relative_to_the_shortest_length_where_training_is_shorter():
    shorter = figure3.data({"none": moments(), "ln": moments()}, longest_trained=3)
    assert shorter["none_variance"].iloc[0] == 1


def test_accuracy_shows_means_with_their_t_intervals_and_the_papers():
    norms, temperatures = ("ln", "none", "rms", "std"), ("plain", "adaptive", "fitted")
    rows = list(product(TASKS, ["short"], norms, range(5), temperatures, LENGTHS))
    raw = pd.DataFrame(rows, columns=COLUMNS[:-1]).assign(accuracy=np.random.default_rng(0).uniform(size=len(rows)))
    data = accuracy.data(raw, TASKS, "short")
    assert list(data["norm"].unique()) == ["none", "std", "ln", "rms"]
    keys = ["task", "temperature", "norm", "length"]
    by_row = data.set_index(keys)[["mean", "low", "high"]]
    assert len(by_row) == len(rows) / 5
    for key, seeds in raw.groupby(keys)["accuracy"]:
        percent = 100 * seeds
        ends = stats.t.interval(0.95, 4, percent.mean(), stats.sem(percent))
        assert by_row.loc[key].tolist() == pytest.approx([percent.mean(), *ends])

    paper = ("dictionary", "short", "plain", "ln", 16, "accuracy_pct", 97.6)
    columns = ["task", "range", "temperature", "variant", "length", "quantity", "value"]
    papers = accuracy.papers(pd.DataFrame([paper], columns=columns), "short")
    drawing = accuracy.draw(data, papers, (5, 16), {"argmax": 4_000, "dictionary": 10_000})
    of_ours, of_paper = drawing.figure.axes[3].lines[::2], drawing.figure.axes[3].lines[1::2]
    for norm, ours, theirs in zip(("none", "std", "ln", "rms"), of_ours, of_paper, strict=True):
        assert list(ours.get_ydata()) == by_row.loc["dictionary", "plain", norm]["mean"].tolist()
        drawn = theirs.get_ydata()[np.isfinite(theirs.get_ydata())]
        assert drawn.tolist() == ([97.6] if norm == "ln" else [])


@pytest.mark.parametrize(("last", "together"), [(200, 1), (80_000, 8)])
def test_loss_shows_the_mean_over_seeds_and_their_band_of_at_most_100_points(last, together):
    steps = np.arange(100, last + 1, 100)
    parts = []
    for norm, seed in product(("none", "ln"), range(3)):
        losses = pd.DataFrame({"step": steps, "loss": 100 / steps + seed})
        parts.append(losses.assign(task="argmax", norm=norm, seed=seed))
    grown = Range(shortest=5, longest=256, growth=Growth(shape="geometric", start=16, until=1))
    [axes] = loss.draw(pd.concat(parts), grown).figure.axes
    means = 1 + (100 / steps).reshape(-1, together).mean(axis=1)
    for line, band in zip(axes.lines, axes.collections, strict=True):
        assert line.get_xdata().tolist() == steps[together - 1 :: together].tolist()
        assert line.get_ydata() == pytest.approx(means)
        box = band.get_paths()[0].get_extents()
        assert (box.ymin, box.ymax) == pytest.approx((means.min() - 1, means.max() + 1))


def test_the_propositions_lines_are_quantiles_relative_to_the_variance_of_an_item():
    rng = np.random.default_rng(0)
    rows = list(product(TASKS, ("none", "ln"), LENGTHS, range(1, 12)))
    cells = pd.DataFrame(rows, columns=["task", "norm", "length", "feature"])
    feature = cells["feature"]
    cells = cells.assign(n=256, variance=rng.uniform(size=len(rows)), variance_se=0.1, item_variance=0.5 * feature)
    cells = cells.assign(predicted=4.0 * feature / cells["length"], bound=8.0 * feature)
    lines = proposition.data(cells).set_index(["task", "norm", "length"])
    assert len(lines) == 12
    for key, features in cells.groupby(["task", "norm", "length"]):
        relative = features["variance"] / features["item_variance"]
        line = lines.loc[key]
        assert line[["low", "median", "high"]].tolist() == pytest.approx(np.quantile(relative, [0.1, 0.5, 0.9]))
        assert line[["predicted", "bound"]].tolist() == pytest.approx([8 / key[2], 16])

    exponents = pd.DataFrame(list(product(TASKS, ("none", "ln"), (0.0, 0.1))), columns=["task", "norm", "exponent"])
    drawing = proposition.draw(cells, exponents.assign(exponent=exponents["exponent"] - 0.9, tail=16))
    first, *_ = drawing.figure.axes
    assert first.get_title(loc="left").endswith("exponent −0.85")
    assert first.lines[0].get_ydata().tolist() == lines.loc["argmax", "none"]["median"].tolist()
