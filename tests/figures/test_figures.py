import numpy as np
import pandas as pd
import pytest

from vanishing_variance.core.frames import read_csv
from vanishing_variance.core.ranges import Growth, Range
from vanishing_variance.figures import (
    accuracy,
    figure1,
    figure2,
    figure3,
    figure4,
    loss,
    mechanism,
    proposition,
    variants,
)
from vanishing_variance.probe.fits import POOLED, fits, pooled
from vanishing_variance.statistics.intervals import interval
from vanishing_variance.study.quantities import GROUPINGS, QUANTITIES
from vanishing_variance.study.results import COLUMNS
from vanishing_variance.study.runs import REFERENCE
from vanishing_variance.study.strategies import STRATEGIES

LENGTHS = [4, 16, 64]
PAPER = accuracy.papers(read_csv(REFERENCE), "short")
NOTHING = PAPER.iloc[:0]


def features(scale):
    rng = np.random.default_rng(0)
    rows = [
        pd.DataFrame({"length": n, "where": where, "feature": f, "value": f + scale * rng.normal(size=500) / n**0.5})
        for n in LENGTHS
        for where in ("before", "after")
        for f in range(5)
    ]
    return pd.concat(rows, ignore_index=True)


def moments():
    rows = [
        {"length": n, "where": where, "mean": 0.1 * n, "mean_se": 0.01, "variance": 8.0 / n, "variance_se": 0.2}
        for n in LENGTHS
        for where in ("before", "after")
    ]
    return pd.DataFrame(rows)


def titles(drawing):
    return [axes.get_title(loc="left") for axes in drawing.figure.axes]


def deviations(layers, heads=(3,), lengths=LENGTHS):
    rows = [
        (strategy, layer, head, component, n, 100, (1 + layer + component) * n**exponent)
        for strategy, exponent in zip(STRATEGIES, (-0.5, -0.25, 0.25, -0.75), strict=True)
        for layer in layers
        for head in heads
        for component in range(5)
        for n in lengths
    ]
    frame = pd.DataFrame(rows, columns=["strategy", "layer", "head", "component", "length", "n", "deviation"])
    return frame.assign(model="all-MiniLM-L6-v2", revision="6fceb34132ad", text="some words.txt 1929826af263")


def figure_1(frame):
    return figure1.draw(frame, fits(pooled(frame), POOLED))


def labels(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_figure_1_shows_components_their_mean_and_its_exponent():
    drawing = figure_1(deviations([2]))
    figure, caption = drawing.figure, drawing.caption
    assert titles(drawing) == [
        *("(a) random tokens w/o P.E.", "(b) random tokens w/ P.E.", "(c) sentences w/ P.E."),
        "(d) random tokens w/o P.E., fixed last token",
    ]
    assert labels(figure.axes[0]) == ["layer 2: −0.50 [−0.50, −0.50]", "slope −0.5"]
    assert {axes.get_legend().get_title().get_text() for axes in figure.axes} == {"exponent"}
    assert labels(figure.axes[2])[0] == "layer 2: 0.25 [0.25, 0.25]"
    assert labels(figure.axes[3])[0] == "layer 2: −0.75 [−0.75, −0.75]"
    assert [len(axes.lines) for axes in figure.axes] == [7] * 4
    assert {axes.get_yscale() for axes in figure.axes} == {"log"}
    assert "all-MiniLM-L6-v2 (6fceb34132ad); sentences of some words.txt. " in caption
    assert "n = 100 sequences a length" in caption
    assert "5 components of head 3; thin lines are components, the thick one is their geometric mean" in caption
    assert "95% t interval over lengths" in caption
    assert "where it is fixed, which the paper does not do, all sequences end with the same token" in caption
    assert labels(figure_1(deviations([2], lengths=[16, 64])).figure.axes[0])[0] == "layer 2: −0.50"


def test_figure_1_of_many_layers_names_some_of_them():
    drawing = figure_1(deviations(range(16), heads=(0, 1)))
    figure = drawing.figure
    assert [text.partition(":")[0] for text in labels(figure.axes[1])] == [
        *("layer 0", "layer 5", "layer 10", "layer 15"),
        "slope −0.5",
    ]
    assert [len(axes.lines) for axes in figure.axes] == [17] * 4
    assert len({line.get_color() for line in figure.axes[0].lines[:16]}) == 16
    said = "5 components of each of 2 heads; a line is a layer, the deeper the lighter, and their geometric mean"
    assert said in drawing.caption


def test_figure_2_densities_integrate_to_one_and_narrow_with_length():
    data = figure2.data({"none": features(1.0), "ln": features(2.0)}, LENGTHS)
    assert list(data["panel"].unique()) == ["none: O", "+ ln: O", "+ ln: LayerNorm(O)"]
    for (_, _, _), one in data.groupby(["panel", "length", "feature"]):
        width = one["value"].diff().iloc[1]
        assert (one["density"] * width).sum() == pytest.approx(1, abs=0.02)
    none = data.query("panel == 'none: O' and feature == 2")
    peaks = none.groupby("length")["density"].max()
    assert peaks[64] > peaks[16] > peaks[4]
    drawing = figure2.draw(data, "argmax")
    names = [f"{panel}, N = $2^{{{k}}}$" for panel in ("none: O", "+ ln: O", "+ ln: LayerNorm(O)") for k in (2, 4, 6)]
    assert titles(drawing) == [f"({letter}) {name}" for letter, name in zip("abcdefghi", names, strict=True)]
    assert "the model of the first seed of each variant: 5 features over n = 500 sequences" in drawing.caption
    assert "at N = 2²" in drawing.caption


def test_figure_2_shows_the_tails_of_every_feature_and_lets_none_reach_the_one_above():
    frame = features(1.0)
    skewed = (frame["feature"] == 4) & (frame["length"] == 64) & (frame["where"] == "after")
    frame.loc[skewed, "value"] = -2 * np.random.default_rng(0).exponential(size=skewed.sum())
    data = figure2.data({"none": features(1.0), "ln": frame}, LENGTHS)
    for _, feature in data.groupby(["panel", "length", "feature"]):
        assert feature["density"].iloc[[0, -1]].max() < 0.02 * feature["density"].max()
    for axes in figure2.draw(data, "argmax").figure.axes:
        for density in axes.collections:
            box = density.get_paths()[0].get_extents()
            assert box.height < 1


def test_figure_2_standardises_each_feature_by_the_shortest_length():
    """So that a feature far away, or a wide one, leaves room for the others; a constant one stays where it is."""
    frame = features(1.0)
    frame.loc[frame["feature"] == 3, "value"] = 1000 * frame["value"] - 7e5
    frame.loc[frame["feature"] == 4, "value"] = 5.0
    frame.loc[(frame["feature"] == 2) & (frame["length"] == 64), "value"] += 0.5
    data = figure2.data({"none": frame}, LENGTHS)
    assert data["value"].abs().max() < 5
    heaviest = data.loc[data.groupby(["length", "feature"])["density"].idxmax()].set_index(["length", "feature"])
    assert heaviest.loc[(64, 4), "value"] == pytest.approx(0, abs=0.1)
    assert heaviest.loc[(64, 3), "value"] == pytest.approx(0, abs=0.2)
    assert heaviest.loc[(64, 2), "value"] == pytest.approx(0.5 / 0.5, abs=0.2)
    shape = (
        data[data["length"] == 4]
        .groupby("feature")
        .apply(lambda of: np.average(of["value"] ** 2, weights=of["density"]))
    )
    assert shape[[0, 1, 2, 3]].to_numpy() == pytest.approx(1, abs=0.15)


def test_figure_3_is_relative_to_the_longest_trained_length():
    data = figure3.data({"none": moments(), "ln": moments()}, longest_trained=20).set_index("length")
    assert data.loc[16, "none_drift"] == 0
    assert data.loc[16, "norm_after_variance"] == 1
    assert data.loc[64, "none_variance"] == pytest.approx(0.25)
    assert data.loc[16, "none_sigma"] == pytest.approx(0.5**0.5)
    assert data.loc[64, "none_drift"] == pytest.approx((6.4 - 1.6) / 0.5**0.5)
    assert data.loc[64, "none_drift_se"] == pytest.approx(0.01 * 2**0.5 / 0.5**0.5)
    assert data.loc[64, "none_variance_se"] == pytest.approx(0.2 / 0.5)
    shorter = figure3.data({"none": moments(), "ln": moments()}, longest_trained=3).set_index("length")
    assert shorter.loc[4, "none_variance"] == 1
    drawing = figure3.draw(data.reset_index(), "argmax", "ln", 2048)
    assert titles(drawing) == ["(a) drift of the global mean", "(b) decay of the global variance"]
    lines = ["none: O", "+ ln: O", "+ ln: LayerNorm(O)"]
    assert [text.get_text() for text in drawing.figure.legends[0].get_texts()] == lines
    after = drawing.figure.axes[1].lines[2]
    assert after.get_ydata().tolist() == data["norm_after_variance"].tolist()
    assert "the first seed" in drawing.caption
    assert "n = 2048 sequences" in drawing.caption
    assert "±1.96 standard errors" in drawing.caption
    assert "relative to N = 2⁴ (trained)" in drawing.caption
    assert "LayerNorm(O) is the standardised O" in drawing.caption
    assert "Standardize(O) has variance 1" in figure3.draw(data.reset_index(), "argmax", "std", 2048).caption


def test_figure_3_does_not_depend_on_the_scale_of_the_outputs_and_shows_a_small_drift_as_small():
    scaled = moments()
    scaled[["mean", "mean_se"]] *= 0.001
    scaled[["variance", "variance_se"]] *= 0.001**2
    data = figure3.data({"none": moments(), "ln": scaled}, longest_trained=20)
    assert data["norm_after_drift"].tolist() == pytest.approx(data["none_drift"].tolist())
    small = data.assign(**{name: 0.001 * data[name] for name in data if "drift" in name})
    bottom, top = figure3.draw(small, "argmax", "ln", 2048).figure.axes[0].get_ylim()
    assert bottom <= -0.02
    assert top >= 0.02


def test_figure_4_shows_the_weights_of_both_at_the_chosen_lengths():
    rows = [(n, s, r, 1.0 / r) for n in LENGTHS for s in range(3) for r in range(1, 5)]
    frame = pd.DataFrame(rows, columns=["length", "sequence", "rank", "weight"])
    data = figure4.data({"none": frame, "ln": frame / [1, 1, 1, 2]}, [4, 64])
    assert set(data["length"]) == {4, 64}
    drawing = figure4.draw(data, "argmax")
    figure = drawing.figure
    images = [axes.images[0] for axes in figure.axes if axes.images]
    assert len(images) == 4
    assert images[0].get_array().shape == (3, 4)
    assert images[3].get_array()[0, 0] == 0.5
    assert titles(drawing)[:2] == ["(a) none, N = $2^{2}$", "(b) none, N = $2^{6}$"]
    assert "the first seed" in drawing.caption
    assert "n = 3 sequences" in drawing.caption
    assert "At N = 2⁶ the largest and the smallest of them" in drawing.caption
    assert drawing.caption.endswith("are 1 and 0.25 (none) and 0.5 and 0.12 (+ ln).")
    assert figure.axes[-1].get_ylim() == pytest.approx((1e-3, 1))
    assert images[0].colorbar.extend == "min"


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


def test_a_temperature_that_fewer_seeds_have_says_its_own_n_in_the_caption(raw):
    old = raw[(raw["temperature"] == "plain") | (raw["seed"] > raw["seed"].min())]
    seeds, steps = raw["seed"].nunique(), {"argmax": 1, "dictionary": 1}
    for of, said in ((raw, f"n = {seeds} seeds,"), (old, f"n = {seeds} (adaptive θ: {seeds - 1}")):
        caption = accuracy.draw(accuracy.data(of, ("argmax", "dictionary"), "short"), NOTHING, (5, 16), steps).caption
        assert f"means over {said}" in caption


def test_accuracy_shows_the_mean_and_its_interval_over_seeds(raw):
    data = accuracy.data(raw, ("argmax", "dictionary"), "short")
    row = data.query("task == 'dictionary' and temperature == 'plain' and norm == 'std' and length == 16").iloc[0]
    values = raw.query("task == 'dictionary' and temperature == 'plain' and norm == 'std' and length == 16")["accuracy"]
    assert (row["mean"], row["low"], row["high"]) == pytest.approx(interval(values.to_numpy() * 100))
    assert list(data["norm"].unique()) == ["none", "std", "ln", "rms"]
    drawing = accuracy.draw(data, PAPER, (5, 16), {"argmax": 4_000, "dictionary": 10_000})
    assert titles(drawing)[::3] == ["(a) argmax, plain softmax", "(d) dictionary, plain softmax"]
    assert len(titles(drawing)) == 6
    ours, theirs = drawing.figure.axes[3].lines[::2], drawing.figure.axes[3].lines[1::2]
    assert [len(line.get_xdata()) for line in ours] == [3] * 4
    assert [list(line.get_ydata()) for line in theirs] == [[99.3, 97.3], [], [99.4, 97.6], []]
    assert drawing.figure.legends[0].get_texts()[-1].get_text() == "the paper's"
    assert drawing.title == "Accuracy against length, trained on up to 16 items"
    assert "argmax after 4,000 gradient steps and dictionary after 10,000 gradient steps" in drawing.caption
    assert "n = 5 seeds, the band is the 95% t interval" in drawing.caption
    assert "Adaptive θ: the paper's temperature" in drawing.caption
    plain = accuracy.draw(data.query("temperature == 'plain'"), NOTHING, (5, 16), {"argmax": 1, "dictionary": 1})
    assert titles(plain) == ["(a) argmax, plain softmax", "(b) dictionary, plain softmax"]
    assert "θ" not in plain.caption
    assert "the paper's" not in [text.get_text() for text in plain.figure.legends[0].get_texts()]


def losses(steps):
    rows = [
        (task, norm, seed, step, 100.0 / step + seed)
        for task in ("argmax", "dictionary")
        for norm in ("none", "ln")
        for seed in range(3)
        for step in steps
    ]
    return pd.DataFrame(rows, columns=["task", "norm", "seed", "step", "loss"])


def test_loss_shows_the_mean_over_seeds_and_their_band():
    frame = losses([100, 200])
    wide = variants.roles(frame[frame["task"] == "argmax"], "step", "loss", "ln")
    assert wide.to_dict("list") == {"step": [100, 200], "none": [2, 1.5], "norm": [2, 1.5]}
    drawing = loss.draw(frame, Range(shortest=5, longest=16))
    axes = drawing.figure.axes[0]
    assert [line.get_xydata().tolist() for line in axes.lines] == [[[100, 2], [200, 1.5]]] * 2
    band = axes.collections[0].get_paths()[0].get_extents()
    assert (band.ymin, band.ymax) == pytest.approx((0.5, 3))
    assert drawing.title == "Training loss, trained on up to 16 items"
    assert "100 steps on argmax" in drawing.caption
    assert "n = 3 seeds" in drawing.caption
    assert "grows" not in drawing.caption


def test_loss_of_many_steps_is_averaged_and_growing_lengths_are_named():
    grown = Range(shortest=5, longest=256, growth=Growth(shape="geometric", start=16, until=1))
    drawing = loss.draw(losses(range(100, 80_100, 100)), grown)
    points = drawing.figure.axes[0].lines[0].get_xydata()
    assert len(points) == 100
    assert points[0].tolist() == pytest.approx([800, 1 + np.mean([1 / k for k in range(1, 9)])])
    assert points[-1][0] == 80_000
    assert "800 steps on argmax" in drawing.caption
    assert "grows from 16 to 256" in drawing.caption
    uneven = loss.draw(losses(range(100, 15_000, 100)), grown).figure.axes[0].lines[0].get_xdata()
    assert uneven[-2:].tolist() == [14_800, 14_900]


def test_the_propositions_lines_are_relative_to_the_variance_of_an_item():
    rows = [
        (task, norm, d, n, 256, 2.0 * d / n, 0.1, 4.0 * d / n, 8.0 * d, 0.5 * d)
        for task in ("argmax", "dictionary")
        for norm in ("none", "ln")
        for n in LENGTHS
        for d in range(1, 12)
    ]
    names = ["variance", "variance_se", "predicted", "bound", "item_variance"]
    cells = pd.DataFrame(rows, columns=["task", "norm", "feature", "length", "n", *names])
    cells.loc[cells["feature"] == 1, "variance"] *= 3
    cells.loc[cells["feature"] > 9, "variance"] *= 5
    lines = proposition.data(cells)
    assert len(lines) == 12
    one = lines.query("task == 'dictionary' and norm == 'ln' and length == 16").iloc[0]
    assert one[["median", "low", "high", "predicted", "bound"]].tolist() == pytest.approx([0.25, 0.25, 1.25, 0.5, 16])
    exponents = pd.DataFrame({"task": "argmax", "norm": ["none", "ln"] * 2, "exponent": [-1, -0.8, -1, -0.9]})
    exponents = pd.concat([exponents, exponents.assign(task="dictionary")]).assign(tail=16)
    drawing = proposition.draw(cells, exponents)
    caption = drawing.caption
    assert titles(drawing)[:2] == ["(a) argmax, none: exponent −1.00", "(b) argmax, + ln: exponent −0.85"]
    assert [len(axes.lines) for axes in drawing.figure.axes] == [4] * 4
    assert "n = 256 sequences" in caption
    assert "11 features" in caption
    assert "10% to 90% quantiles" in caption
    assert "medians over features of power laws fitted to N ≥ 2⁴." in caption
    assert "_" not in caption
    entries = [text.get_text() for text in drawing.figure.legends[0].get_texts()]
    assert entries[:2] == ["measured, none", "measured, + ln"]
    assert len(entries) == 5
    for axes, norm in zip(drawing.figure.axes, ("none", "ln") * 2, strict=True):
        measured = axes.lines[0]
        assert {"color": measured.get_color(), "marker": measured.get_marker()}.items() <= variants.look(norm).items()
        assert measured.get_linestyle() == variants.look(norm)["linestyle"]


def test_the_mechanism_has_a_panel_a_task_and_range_and_a_point_a_quantity_and_grouping():
    rows = [
        (task, range_, grouping, name, 88, 0.5, 0.4, 0.6)
        for task in ("argmax", "dictionary")
        for range_ in ("short", "long")
        for grouping in GROUPINGS
        for name in QUANTITIES
    ]
    columns = ["task", "range", "grouping", "quantity", "n", "r2", "r2_low", "r2_high"]
    explained = pd.DataFrame(rows, columns=columns)
    explained.loc[0, ["r2", "r2_low", "r2_high"]] = [0.9, 0.2, 0.95]
    explained.loc[1, ["r2", "r2_low", "r2_high"]] = np.nan
    longest = {"short": 16, "long": 256}
    drawing = mechanism.draw(explained, longest, pd.Series([4]))
    figure = drawing.figure
    assert titles(drawing) == [
        *("(a) argmax, trained at N ≤ 16", "(b) dictionary, trained at N ≤ 16"),
        *("(c) argmax, trained at N ≤ 256", "(d) dictionary, trained at N ≤ 256"),
    ]
    others_first = explained.iloc[::-1].sort_values("task", kind="stable")
    assert titles(mechanism.draw(others_first, longest, pd.Series([4]))) == titles(drawing)
    assert "n = 4 seeds of every normaliser, which are up to 88 models × lengths" in drawing.caption
    first = figure.axes[0].containers[0]
    assert first.get_label() == "between seeds"
    shown = dict(zip(first.lines[0].get_ydata(), first.lines[0].get_xdata(), strict=True))
    assert len(shown) == len(QUANTITIES) - 1
    assert shown[len(QUANTITIES) - 1 + 0.25] == 0.9
    assert first.lines[2][0].get_segments()[0][:, 0].tolist() == pytest.approx([0.2, 0.95])
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == [title for title, _ in QUANTITIES.values()]
    assert figure.axes[3].get_xlabel() == "explained share of the\nvariance of accuracy, $r^2$"
    shaded = sorted(patch.get_y() for patch in figure.axes[0].patches)
    assert shaded == [place - 0.5 for place in range(1, len(QUANTITIES), 2)]
    some = explained.query("task == 'dictionary' or range == 'short'")
    drawing = mechanism.draw(some, longest, pd.Series([4, 6]))
    assert titles(drawing)[2:] == ["", "(c) dictionary, trained at N ≤ 256"]
    assert [axes.get_visible() for axes in drawing.figure.axes] == [True, True, False, True]
    assert "n = 4 to 6 seeds of every normaliser" in drawing.caption
    short = mechanism.draw(explained.query("range == 'short' and task == 'argmax'"), longest, pd.Series([4]))
    assert titles(short) == ["(a) argmax, trained at N ≤ 16"]


def test_what_explains_nothing_leaves_its_panel_empty():
    rows = [("argmax", "short", grouping, name, 8, *[np.nan] * 3) for grouping in GROUPINGS for name in QUANTITIES]
    columns = ["task", "range", "grouping", "quantity", "n", "r2", "r2_low", "r2_high"]
    figure = mechanism.draw(pd.DataFrame(rows, columns=columns), {"short": 16}, pd.Series([8])).figure
    assert not figure.axes[0].containers[0].lines[0].get_xdata().size
    figure.canvas.draw()
