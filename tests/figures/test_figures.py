"""The figures show what an independent computation gives of made-up results."""

import os
import random
import subprocess
import sys
from itertools import product

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from vanishing_variance.engine.ranges import Range
from vanishing_variance.figures import accuracy, figure2, figure3, figure4, parts, results, style
from vanishing_variance.figures.board import draw
from vanishing_variance.figures.drawing import Drawing, write_figure
from vanishing_variance.harness.frames import read_csv
from vanishing_variance.results.columns import COLUMNS
from vanishing_variance.results.runs import REFERENCE, RULES

LENGTHS = [4, 16, 64]
TASKS = ("argmax", "dictionary")
PANELS = ("last weights", "adaptive θ", "averaged")
# Characters: three lines.
CAPTION = 360


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
    data = figure3.data({"none": moments(), "ln": moments()}, Range(shortest=5, longest=20)).set_index("length")
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


def test_a_sequence_shorter_than_others_has_no_weights_at_their_last_ranks():
    cells = [(length, 0, rank, 0.5) for length in (2, 3) for rank in range(1, length + 1)]
    attention = pd.DataFrame(cells, columns=["length", "sequence", "rank", "weight"])
    short, _, medians, _ = figure4.draw(figure4.data({"none": attention}, [2, 3]), "argmax").figure.axes
    assert short.images[0].get_array().shape == (1, 3)
    assert np.isnan(medians.lines[0].get_ydata()).tolist() == [False, False, True]


@pytest.mark.parametrize(
    ("lengths", "said"), [((5, 20), "longest trained"), ((1, 2), "shortest"), ((5, 6), "shortest")]
)
def test_figure_3_says_which_length_it_is_relative_to(lengths, said):
    trained = Range(shortest=lengths[0], longest=lengths[1])
    data = figure3.data({"none": moments(), "ln": moments()}, trained)
    assert f"relative to the {said} test length" in figure3.draw(data, "argmax", "ln", 8, trained).caption


@pytest.fixture
def raw():
    norms = ("ln", "none", "rms", "std")
    rows = list(product(TASKS, norms, range(5), RULES, LENGTHS))
    return pd.DataFrame(rows, columns=COLUMNS[:-1]).assign(
        accuracy=np.random.default_rng(0).uniform(size=len(rows)), note=None
    )


def test_accuracy_is_a_mean_with_its_t_interval_and_its_difference_from_none_that_of_the_same_seeds(raw):
    lacking = raw[(raw["line"] != "none") | (raw["seed"] != 2)]
    data = accuracy.data(lacking, TASKS, "short").set_index(["task", "rule", "line", "length"])
    seeds = 100 * lacking.set_index([*data.index.names, "seed"])["accuracy"].sort_index()
    for task, rule, norm, length in data.index:
        ours, untreated = seeds[task, rule, norm, length], seeds[task, rule, "none", length]
        shown = {"mean": ours, "difference": (ours - untreated).dropna()}
        columns = {"mean": ["mean", "low", "high"], "difference": ["difference", "difference_low", "difference_high"]}
        for column, values in shown.items():
            margin = stats.t.ppf(0.975, len(values) - 1) * stats.sem(values)
            ends = data.loc[(task, rule, norm, length), columns[column]]
            assert ends.tolist() == pytest.approx([values.mean(), values.mean() - margin, values.mean() + margin])
        assert data.loc[(task, rule, norm, length), "n"] == len((ours - untreated).dropna())  # of the pairs
    alone = accuracy.data(raw[raw["line"] == "ln"], TASKS, "short")
    assert alone["difference"].isna().all()


def papers_at_16():
    """The paper's means of two normalisers, as trained, on the dictionary."""
    columns = ["task", "rule", "line", "length", "statistic", "value"]
    about = ("dictionary", "last")
    rows = [(*about, norm, 16, "accuracy", mean) for norm, mean in (("ln", 97.6), ("none", 90))]
    return accuracy.papers(pd.DataFrame(rows, columns=columns), "short")


def test_accuracy_is_drawn_beside_the_papers(raw):
    data = accuracy.data(raw, TASKS, "short")
    steps = {"argmax": 4_000, "dictionary": 10_000}
    drawing = accuracy.draw(data, papers_at_16(), (5, 16), steps)
    assert [axes.get_title("left").partition(", ")[2] for axes in drawing.figure.axes] == [*PANELS] * 2
    shown = data.query("task == 'dictionary' and rule == 'last' and line == 'ln'")
    lines = drawing.figure.axes[3].lines  # of each norm ours, and the paper's
    place = [line.get_label() for line in lines].index("+ ln")
    assert lines[place].get_ydata().tolist() == shown["difference"].tolist()
    assert_allclose(lines[place + 1].get_ydata(), [np.nan, 97.6 - 90, np.nan])
    assert len(drawing.caption) <= CAPTION


def test_the_losses_of_ln_are_there_whatever_the_treatment_is(raw):
    runs = product(TASKS, ("none", "std", "ln", "rms", "long-none", "long-rms"), (0, 1), (5, 10), (0.5,))
    losses = pd.DataFrame(runs, columns=["task", "line", "seed", "step", "loss"])
    lengths = Range(shortest=5, longest=16)
    drawn = results.of_range("short", lengths, "rms", losses, raw, read_csv(REFERENCE))
    assert drawn["loss.csv"]["line"].unique().tolist() == ["none", "ln", "rms"]


def test_a_board_has_marks_or_words_of_every_line_the_best_first_and_a_vertical_line_at_the_studys_first():
    """Of three lines the first has averaged weights, and the last diverged."""
    rows = []
    for line, mean in (("none", 10.0), ("ln", 30.0)):
        row = {"task": "argmax", "line": line, "rule": "last", "n": 6, "note": None}
        rows.append(row | {"beyond": mean, "beyond_low": mean - 3, "beyond_high": mean + 5})
    broken = {"task": "argmax", "line": "broken", "rule": "last", "note": "seed 1 diverged at step 7"}
    board = pd.DataFrame([*rows, broken, rows[0] | {"rule": "averaged", "beyond": 11.0}]).astype({"n": "Int64"})
    drawing = draw("Which is best?", board.assign(baseline=[None, "none", "none", None]))
    [axes] = drawing.figure.axes
    assert axes.yaxis.get_major_formatter().format_ticks(axes.get_yticks()) == ["ln", "none", "broken"]
    assert axes.yaxis_inverted()  # the best at the top
    assert [(text.get_text(), text.get_position()[1]) for text in axes.texts] == [("no result", 2)]
    averaged, last = (container.lines for container in axes.containers)
    assert last[0].get_xydata().tolist() == [[10, 1], [30, 0]]
    assert [bar[:, 0].tolist() for bar in last[2][0].get_segments()] == [[7, 15], [27, 35]]
    assert averaged[0].get_xdata().tolist() == [11]
    assert axes.lines[-1].get_xdata() == [10, 10]
    assert axes.lines[-1].get_label() == "none, last weights"
    [axes] = draw("In pairs?", board.assign(baseline=[None, None, "ln", None])).figure.axes
    assert axes.yaxis.get_major_formatter().format_ticks(axes.get_yticks()) == [
        "ln",
        "broken",
        "none",
    ]  # broken with its baseline
    assert "n = 6 seeds" in drawing.caption
    assert len(drawing.caption) <= CAPTION
    few = draw("Of few?", board.assign(baseline=None, n=2))
    assert "over seeds, of 3 or more" in few.caption
    drawn = [bar for container in few.figure.axes[0].containers for bar in container.lines[2][0].get_segments()]
    assert np.ptp([bar[:, 0] for bar in drawn], axis=1).max(initial=0) == 0
    assert "No task has two lines" in draw("Of one?", board[:1].assign(baseline=None)).caption


def test_parts_of_a_line_that_were_measured_on_one_task_alone_are_words_on_the_other():
    of = {"rule": "last", "seed": [0, 1], "length": [16, 32], "note": None, "accuracy": 0.5, "misranked": 0.5}
    measured = [
        pd.DataFrame(of | {"task": task, "line": line}) for task, line in (("a", "none"), ("b", "none"), ("b", "ln"))
    ]
    empty = dict.fromkeys(("misread", "diluted", "right_misranked"), 0.0)
    drawing = parts.draw(pd.concat(measured).assign(**empty), {"none": 16, "ln": 16})
    assert drawing.caption.startswith("All answers")
    of_some = parts.draw(pd.concat(measured).assign(**empty, accuracy=0.4), {"none": 16, "ln": 16})
    assert of_some.caption.startswith("Answers to the first sequences of a length")
    titles = [axes.get_title(loc="left") for axes in drawing.figure.axes]
    assert sorted(titles) == ["a, ln: not measured", "a, none (n = 2)", "b, ln (n = 2)", "b, none (n = 2)"]


DRAW = """
from pathlib import Path
from vanishing_variance.figures import style
from vanishing_variance.figures.drawing import Drawing, write_figure
figure = style.figure(2)
figure.subplots().plot([1, 2], [1, 2], label="a line")
style.legend_above(figure, 1)
write_figure(Path("one"), Drawing(figure, "Title", "Words."))
"""
# Of a user; without LaTeX the first of them would end the drawing.
SETTINGS = {"text.usetex": True, "font.size": 20, "axes.facecolor": "black", "lines.linewidth": 9, "savefig.dpi": 50}


def drawn(folder, environment):
    subprocess.run([sys.executable, "-c", DRAW], cwd=folder, env=environment, check=True)
    return (folder / "one.png").read_bytes()


def test_a_figure_is_the_same_whatever_the_user_has_set_for_matplotlib(tmp_path, monkeypatch):
    """In a matplotlibrc; in code that imports ours; and a notebook's backend, which is not installed here."""
    (tmp_path / "matplotlibrc").write_text("".join(f"{name}: {value}\n" for name, value in SETTINGS.items()))
    there = os.pathsep.join(sys.path)
    ours = drawn(
        tmp_path, {**os.environ, "PYTHONPATH": there, "MPLBACKEND": "module://matplotlib_inline.backend_inline"}
    )
    (tmp_path / "matplotlibrc").unlink()
    monkeypatch.chdir(tmp_path)
    for settings in ({}, SETTINGS):
        with mpl.rc_context(settings):
            exec(DRAW, {})
        assert (tmp_path / "one.png").read_bytes() == ours


def test_a_figure_has_the_same_bytes_wherever_its_objects_lie_in_memory(tmp_path):
    """The solver of constrained layouts orders its variables by address."""
    rng = random.Random(0)
    written, kept = set(), []
    for name in "abc":
        kept += [bytearray(rng.randint(10, 4000)) for _ in range(rng.randint(0, 20_000))]
        figure = style.figure(2)
        panels = figure.subplots(2, 3, sharex=True, sharey=True)
        panels[0, 0].set_ylabel("feature")
        style.letter(panels.flat)
        write_figure(tmp_path / name, Drawing(figure, "Title", "Words."))
        written.add((tmp_path / f"{name}.png").read_bytes())
    assert len(written) == 1
