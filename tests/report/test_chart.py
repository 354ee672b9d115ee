"""The charts of accuracy against length: their numbers are those of the results."""

import pytest
import vl_convert
from made_up_leaderboard import ACCURACY, BOARD, MEANS, TRAINED
from made_up_results import LENGTHS, TEMPERATURES, comparisons, made_up, paper
from scipy import stats

from vanishing_variance.leaderboard.curves import curves
from vanishing_variance.report import chart, leaderboard_chart
from vanishing_variance.report.curves import BOTTOM, HEIGHT, TOP, panels


def points(text):
    """The accuracies of the points of a curve, from their places."""
    places = [float(pair.partition(",")[2]) for pair in text.split()]
    return [100 * (HEIGHT - BOTTOM - place) / (HEIGHT - TOP - BOTTOM) for place in places]


def test_the_first_screens_curves_are_the_means_and_intervals_and_the_papers_numbers():
    tests = comparisons().query("range == 'short' and temperature == 'plain' and treatment == 'ln'")
    made = panels(comparisons(), paper(), made_up().params)
    for panel, task in zip(made, ("argmax", "dictionary"), strict=True):
        of = tests[(tests["task"] == task) & (tests["baseline"] == "none")]
        for curve, role in zip(panel.curves, ("baseline", "treatment"), strict=True):
            assert points(curve.mean) == pytest.approx(list(of[f"{role}_mean"]), abs=0.05)
            assert sorted(points(curve.band)) == pytest.approx([45] * 3 + [55] * 3, abs=0.05)
    none, ln = made[0].curves
    assert points(none.paper) == pytest.approx([90.0, 49.8], abs=0.05)
    assert points(ln.paper) == pytest.approx([40], abs=0.05)
    assert [curve.paper for curve in made[1].curves] == ["", ""]


def test_the_study_chart_reads_out_every_variant_once_a_length_rounded_as_the_tables():
    tests = comparisons().assign(baseline_mean=31.25)  # a tie, which JavaScript would round up
    rows = chart.readings(tests, paper()).set_index(["task", "range", "temperature", "norm", "length"])
    assert rows.index.is_unique
    assert len(rows) == 2 * (3 + 2) * len(TEMPERATURES) * len(LENGTHS)
    first = rows.loc[("argmax", "short", "plain", "none", 16)]
    for said in ("none at N = 2⁴", "31.2%", "[45.0, 55.0]", "n = 2", "90.0%"):
        assert said in first["reading"]
    second = rows.loc[("argmax", "short", "plain", "ln", 100)]
    assert (second["mean"], second["low"], second["high"]) == (50.1, 45, 55)
    assert "50.1%" in second["reading"]
    assert rows["paper"].notna().sum() == 3


def test_the_leaderboards_chart_has_every_line_with_its_mean_and_t_interval():
    document = leaderboard_chart.chart(curves(ACCURACY), BOARD, TRAINED)
    rows = document["datasets"]["readings"]
    assert len(rows) == len(MEANS) * 2 * 2 * 4
    by_place = {tuple(row[name] for name in ("task", "curve", "rule", "length")): row for row in rows}
    for place, of in ACCURACY.groupby(["task", "line", "rule", "length"]):
        values = 100 * of["accuracy"].to_numpy()
        low, high = stats.t.interval(0.95, len(values) - 1, values.mean(), stats.sem(values))
        row = by_place[place]
        assert (row["mean"], row["low"], row["high"]) == pytest.approx((values.mean(), low, high), abs=2e-3)
        assert f"{row['curve']} at N = " in row["reading"]
        assert f"n = {len(values)} seeds" in row["reading"]
    boxes = [one for one in document["params"] if one.get("bind", {}).get("input") == "checkbox"]
    assert len(boxes) == len(MEANS)
    assert sum(one["value"] for one in boxes) == leaderboard_chart.BEST + 1


def test_vega_lite_takes_both_documents():
    norm = 'a"b<'
    study = chart.chart(comparisons(norm), paper(), made_up(norm).params)
    for document in (study, leaderboard_chart.chart(curves(ACCURACY), BOARD, TRAINED)):
        names = {one["name"] for one in vl_convert.vegalite_to_vega(document)["signals"]}
        assert {"chosen_task", "shows_0", "shows_1", "pointed"} <= names
