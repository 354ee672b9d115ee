"""The figures show what an independent computation gives of made-up results."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from checkout import ROOT
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from vanishing_variance.engine.ranges import Range
from vanishing_variance.figures import (
    accuracy,
    figure1,
    figure2,
    figure3,
    figure4,
    interventions,
    loss,
    mechanism,
    path,
)
from vanishing_variance.figures.board import draw
from vanishing_variance.harness.frames import read_csv, tidied
from vanishing_variance.measure.proposition.summary import lines as proposition_lines
from vanishing_variance.probe.fits import POOLED, fits, pooled
from vanishing_variance.probe.strategies import STRATEGIES
from vanishing_variance.results.accuracy import COLUMNS
from vanishing_variance.results.runs import RULES
from vanishing_variance.results.shares import shares

LENGTHS = [4, 16, 64]
TASKS = ("argmax", "dictionary")
PANELS = ("last weights", "adaptive θ", "averaged")
# Characters: three lines.
CAPTION = 360


def labels(figure):
    """Return the entries of the legend above the panels."""
    [legend] = figure.legends
    return [text.get_text() for text in legend.get_texts()]


@pytest.mark.parametrize("layers", [1, 16])
def test_figure_1_has_the_first_layer_and_the_last_before_and_after_the_projection(layers):
    rows = []
    for strategy, layer, place, feature, length in product(
        STRATEGIES, range(layers), ("before", "after"), range(5), LENGTHS
    ):
        deviation = (1 + layer + feature) * length ** (-0.25 if place == "before" else -0.1)
        rows.append((strategy, layer, place, feature, length, 100, deviation))
    frame = pd.DataFrame(rows, columns=["strategy", "layer", "place", "feature", "length", "n", "deviation"])
    frame = frame.assign(model="a model", revision="6fceb34132ad", text="words.txt 1929826af263")
    figure = figure1.draw(frame, fits(pooled(frame), POOLED)).figure
    of_first_layer = stats.gmean(np.arange(1, 6)) * np.array(LENGTHS) ** -0.25
    titles = [axes.get_title("left").split(":")[0] for axes in figure.axes]
    assert titles == ["(a) layer 0", "(b) layer 0", "(c) layer 15", "(d) layer 15"][: 2 * min(layers, 2)]
    assert labels(figure) == [*(strategy.title for strategy in STRATEGIES.values()), "reference: exponent −0.5"]
    assert figure.axes[0].lines[0].get_ydata() == pytest.approx(of_first_layer)
    for axes, exponent in zip(figure.axes, ["−0.25", "−0.10"] * 2, strict=False):
        texts = [text.get_text() for text in axes.get_legend().get_texts()]
        assert texts == [f"{exponent} [{exponent}, {exponent}]"] * len(STRATEGIES)


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


def test_figure_4_has_the_median_weight_by_rank_beside_the_heatmaps():
    cells = list(product(LENGTHS, range(5), range(1, 4)))
    attention = pd.DataFrame(cells, columns=["length", "sequence", "rank"])
    attention["weight"] = np.random.default_rng(0).uniform(0.1, 1, len(cells))
    *heatmaps, medians, _ = figure4.draw(figure4.data({"none": attention}, LENGTHS), "argmax").figure.axes
    weights = attention["weight"].to_numpy().reshape(len(LENGTHS), 5, 3)
    assert_array_equal([axes.images[0].get_array() for axes in heatmaps], weights)
    assert_array_equal([line.get_ydata() for line in medians.lines], np.median(weights, axis=1))


@pytest.fixture
def raw():
    norms = ("ln", "none", "rms", "std")
    rows = list(product(TASKS, ["short"], norms, range(5), RULES, LENGTHS))
    return pd.DataFrame(rows, columns=COLUMNS[:-1]).assign(accuracy=np.random.default_rng(0).uniform(size=len(rows)))


def test_accuracy_is_a_mean_with_its_t_interval_and_its_difference_from_none_that_of_the_same_seeds(raw):
    lacking = raw[(raw["norm"] != "none") | (raw["seed"] != 2)]
    data = accuracy.data(lacking, TASKS, "short").set_index(["task", "rule", "norm", "length"])
    seeds = 100 * lacking.set_index([*data.index.names, "seed"])["accuracy"].sort_index()
    for task, rule, norm, length in data.index:
        ours, untreated = seeds[task, rule, norm, length], seeds[task, rule, "none", length]
        shown = {"mean": ours, "difference": (ours - untreated).dropna()}
        for column, values in shown.items():
            margin = stats.t.ppf(0.975, len(values) - 1) * stats.sem(values)
            ends = data.loc[(task, rule, norm, length), [column, *accuracy.QUANTITIES[column][:2]]]
            assert ends.tolist() == pytest.approx([values.mean(), values.mean() - margin, values.mean() + margin])
    alone = accuracy.data(raw[raw["norm"] == "ln"], TASKS, "short")
    assert alone["difference"].isna().all()


def papers_at_16(*tasks):
    """The paper's means of two normalisers, as trained, in these tasks."""
    columns = ["task", "range", "rule", "variant", "length", "quantity", "value"]
    norms = (("ln", 97.6), ("none", 90))
    rows = [(task, "short", "last", norm, 16, "accuracy_pct", mean) for task, (norm, mean) in product(tasks, norms)]
    return accuracy.papers(pd.DataFrame(rows, columns=columns), "short")


def test_accuracy_is_drawn_beside_the_papers(raw):
    data = accuracy.data(raw, TASKS, "short")
    steps = {"argmax": 4_000, "dictionary": 10_000}
    drawing = accuracy.draw(data, papers_at_16("dictionary"), "short", (5, 16), steps)
    assert [axes.get_title("left").partition(", ")[2] for axes in drawing.figure.axes] == [*PANELS] * 4
    shown = data.query("task == 'dictionary' and rule == 'last' and norm == 'ln'")
    for panel, quantity, papers in ((6, "mean", 97.6), (9, "difference", 97.6 - 90)):
        lines = drawing.figure.axes[panel].lines  # of each norm ours, and the paper's
        place = [line.get_label() for line in lines].index("+ ln")
        assert lines[place].get_ydata().tolist() == shown[quantity].tolist()
        assert_allclose(lines[place + 1].get_ydata(), [np.nan, papers, np.nan])
    assert len(drawing.caption) <= CAPTION


@pytest.mark.parametrize(
    ("steps", "below", "words"),
    [
        (10_000, 0.4, []),
        (10_000, -5, []),
        (10_000, 0.6, ["none 0.6 points below\nthe paper's at $2^{4}$"]),
        (9_999, 0.6, ["9,999 of the paper's\n10,000 steps"]),
    ],
)
def test_beside_the_papers_accuracies_stands_why_ours_are_not_comparable(raw, steps, below, words):
    raw.loc[(raw["norm"] == "none") & (raw["length"] == 16), "accuracy"] = 0.9 - below / 100
    data = accuracy.data(raw, TASKS, "short")
    made = {"argmax": 100_000, "dictionary": steps}
    drawing = accuracy.draw(data, papers_at_16("dictionary"), "short", (5, 16), made)
    written = [[text.get_text() for text in axes.texts] for axes in drawing.figure.axes]
    assert written[6] == words  # of the dictionary, as trained
    assert not any(written[:6] + written[7:])
    assert ("not comparable" in drawing.caption) == bool(words)


def test_loss_shows_the_mean_over_seeds_and_their_band_of_at_most_100_points():
    steps = np.arange(100, 80_001, 100)
    parts = []
    for seed in range(3):
        losses = pd.DataFrame({"step": steps, "loss": 100 / steps + seed})
        parts.append(losses.assign(task="argmax", norm="none", seed=seed))
    data = loss.data(pd.concat(parts))
    [axes] = loss.draw(data, Range(shortest=5, longest=256)).figure.axes
    means = 1 + (100 / steps).reshape(-1, 8).mean(axis=1)
    [line], [band] = axes.lines, axes.collections
    assert line.get_xdata().tolist() == steps[7::8].tolist()
    assert line.get_ydata() == pytest.approx(means)
    box = band.get_paths()[0].get_extents()
    assert (box.ymin, box.ymax) == pytest.approx((means.min() - 1, means.max() + 1))


@pytest.fixture
def cells():
    rows = list(product(TASKS, ("none", "ln"), LENGTHS, range(1, 12)))
    cells = pd.DataFrame(rows, columns=["task", "norm", "length", "feature"])
    variance = np.random.default_rng(0).uniform(size=len(rows))
    feature = cells["feature"]
    cells = cells.assign(n=256, variance=variance, variance_se=0.1, item_variance=0.5 * feature)
    return cells.assign(predicted=4.0 * feature / cells["length"], bound=8.0 * feature)


def test_the_proposition_lines_are_quantiles_relative_to_the_variance_of_an_item(cells):
    lines = proposition_lines(cells)
    assert len(lines) == 12
    relative = cells["variance"] / cells["item_variance"]
    by_line = relative.groupby([cells["task"], cells["norm"], cells["length"]], sort=False)
    for column, quantile in (("low", 0.1), ("median", 0.5), ("high", 0.9)):
        assert lines[column].tolist() == pytest.approx(by_line.quantile(quantile).tolist())
    assert lines["predicted"].tolist() == pytest.approx((8 / lines["length"]).tolist())
    assert set(lines["bound"]) == {16}


def made_up_board():
    """Return a board of three lines, of which the first has averaged weights, and one diverged on argmax."""
    rows = []
    low = 10.0
    for task in TASKS:
        for place, line in enumerate(("none", "ln", "broken")):
            mean = low + 20 * place
            row = {"task": task, "line": line, "rule": "last", "n": 6, "note": None}
            row |= {"beyond": mean, "beyond_low": mean - 3, "beyond_high": mean + 5}
            if (task, line) == ("argmax", "broken"):
                row = {"task": task, "line": line, "rule": "last", "note": "seed 1 diverged at step 7"}
            rows.append(row)
        rows.append(rows[-3] | {"rule": "averaged", "beyond": low + 1})
    return pd.DataFrame(rows).astype({"n": "Int64"})


def test_a_board_has_marks_or_words_of_every_line_in_its_order_and_a_vertical_line_at_the_first():
    drawing = draw("Which is best?", made_up_board())
    argmax, dictionary = drawing.figure.axes
    assert argmax.yaxis.get_major_formatter().format_ticks(argmax.get_yticks()) == ["none", "ln", "broken"]
    assert argmax.yaxis_inverted()  # the first at the top
    assert [text.get_text() for text in argmax.texts] == ["no result"]
    assert [text.get_position()[1] for text in argmax.texts] == [2]
    assert not dictionary.texts
    for axes, means in ((argmax, [10, 30]), (dictionary, [10, 30, 50])):
        [marks] = axes.containers
        points, _, [bars] = marks.lines
        assert points.get_xydata().tolist() == [[mean, place] for place, mean in enumerate(means)]
        assert [bar[:, 0].tolist() for bar in bars.get_segments()] == [[mean - 3, mean + 5] for mean in means]
        [averaged] = [line for line in axes.lines if line.get_label() == "averaged weights"]
        assert averaged.get_xydata().tolist() == [[11, 0]]
        assert axes.lines[-1].get_xdata() == [10, 10]
    assert set(labels(drawing.figure)) == {"as trained", "averaged weights"}
    assert drawing.title == "Which is best?"
    assert "n = 6 seeds" in drawing.caption
    assert len(drawing.caption) <= CAPTION


def test_a_path_has_accuracies_of_lines_and_baselines_and_gains_by_rule():
    lines = [("none", None, 10.0), ("ln", "none", 30.0), ("none-2", None, 50.0), ("ln-2", "none-2", 45.0)]
    table = []
    for line, baseline, beyond in lines:
        row = {"task": "argmax", "line": line, "rule": "last", "n": 6, "baseline": baseline, "beyond": beyond}
        row |= {"beyond_low": beyond - 3, "beyond_high": beyond + 3, "difference": beyond / 10}
        row |= {"difference_low": beyond / 10 - 1, "difference_high": beyond / 10 + 1}
        table += [row, row | {"rule": "averaged", "difference": 7.0}]
    drawing = path.draw("Where does it end?", pd.DataFrame(table), ["ln", "ln-2"])
    accuracy, gain = drawing.figure.axes
    assert accuracy.yaxis.get_major_formatter().format_ticks(accuracy.get_yticks()) == ["ln", "ln-2"]
    assert accuracy.yaxis_inverted()  # the first at the top
    for axes, expected in ((accuracy, [[10, 50], [30, 45]]), (gain, [[3, 4.5], [7, 7]])):
        drawn = [marks.lines[0].get_xdata().tolist() for marks in axes.containers]
        assert drawn == expected
    assert labels(drawing.figure) == ["its baseline", "the line", "last weights", "averaged weights"]
    assert "n = 6 seeds" in drawing.caption


def shares_in_git():
    accuracy = read_csv(ROOT / "metrics/interventions/accuracy.csv")
    return shares(tidied(accuracy, "accuracy"), {"short": 16, "long": 256})


def test_a_run_on_the_short_range_alone_in_which_nothing_is_lost_or_explained_has_its_figures():
    lost = shares_in_git().query("range == 'short'")
    explained = pd.read_csv(ROOT / "metrics/explained.csv").query("range == 'short'")
    seeds = pd.Series([1], pd.MultiIndex.from_tuples([("argmax", "short", "none")]))
    assert len(interventions.draw(lost, 16).figure.axes) == 8
    assert "no share" in interventions.draw(lost.assign(share=np.nan), 16).caption
    for r2 in (explained["r2"], np.nan):
        assert len(mechanism.draw(explained.assign(r2=r2), {"short": 16}, seeds).figure.axes) == 2
