"""The pages, read as text: nothing of the results is lost, nothing is unescaped."""

import re
from dataclasses import replace
from html import unescape

import pytest
import vl_convert
from checkout import ROOT
from made_up_leaderboard import ACCURACY, BOARD, MEANS, TRAINED, leaderboard
from made_up_results import comparisons, evidence, made_up, paper
from scipy import stats

from vanishing_variance.core.errors import InputError
from vanishing_variance.leaderboard.curves import curves
from vanishing_variance.report import chart, leaderboard_chart
from vanishing_variance.report import leaderboard as leaderboard_page
from vanishing_variance.report import page as study_page
from vanishing_variance.report.page import page, side

MACHINE = {"device": "A <fast> one", "cores": 2, "revision": "0123456789ab-dirty"}
TIMES = [
    {"stage": "train-argmax-short-ln-0", "seconds": 30.25},
    {"stage": "train-argmax-short-none-0", "seconds": 29.5},
]


def rows(html, anchor):
    """The name and the cells of every row of a table of a page."""
    table = html.partition(f'<figure id="{anchor}">')[2].partition("</table>")[0]
    found = re.findall(r'<tr><th scope="row">(.*?)</th>(.*?)</tr>', table, re.DOTALL)
    texts = [(name, re.findall(r"<td[^>]*>(.*?)</td>", cells)) for name, cells in found]
    return [(unescape(name), list(map(unescape, of))) for name, of in texts]


def test_every_cell_of_every_table_stands_on_the_page(monkeypatch):
    made = []
    for name in ("tables", "grouped"):
        original = getattr(study_page, name)
        monkeypatch.setattr(study_page, name, lambda *given, of=original: made.append(of(*given)) or made[-1])
    html = page(made_up("<b>")).html
    shown = [table for of in made for table in (of if isinstance(of, list) else [of])]
    assert len(shown) == 1 + 6 + 2
    for table in shown:
        cells = [(name, [cell.text for cell in of]) for _, group in table.groups for name, of in group]
        assert len(cells) >= 5
        assert rows(html, table.anchor) == cells


def test_names_and_texts_are_escaped():
    html = page(made_up("<b>", evidence=evidence(claim="<i>x</i> & 2^4"), tests=comparisons("<b>"))).html
    assert "+ &lt;b&gt;" in html
    assert "&lt;i&gt;x&lt;/i&gt; &amp; 2<sup>4</sup>" in html
    assert "<i>x" not in html
    assert not re.search(r"(\+|against|of|treatment</dt><dd>) <b>", html)
    assert "<good>" not in leaderboard_page.page(leaderboard())
    assert "A &lt;fast&gt; one" in side("abc", MACHINE, TIMES)


def test_vega_lite_takes_the_charts():
    norm = 'a"b<'
    study = chart.chart(comparisons(norm), paper(), made_up(norm).params)
    for document in (study, leaderboard_chart.chart(curves(ACCURACY), BOARD, TRAINED)):
        names = {one["name"] for one in vl_convert.vegalite_to_vega(document)["signals"]}
        assert {"chosen_task", "shows_0", "shows_1", "pointed"} <= names


def test_the_same_results_give_the_same_bytes_and_others_another_fingerprint():
    first, same, other = (page(made_up(**changes)) for changes in ({}, {}, {"source": "norm: ln\n"}))
    assert first == same
    assert first.fingerprint in first.html
    assert first.fingerprint != other.fingerprint
    assert str(ROOT) not in first.html


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"seeds_per_block": "many"}, r"^params.yaml: seeds_per_block is 'many'; must be"),
        ({"norm": "rms"}, r"^params.yaml: norm is 'rms', of which metrics/tables has no results"),
    ],
)
def test_a_bad_parameter_or_results_of_another_treatment_are_one_line(changes, said):
    results = made_up()
    with pytest.raises(InputError, match=said):
        page(replace(results, params={**results.params, **changes}))


def mean_and_margin(values):
    margin = stats.t.ppf(0.975, len(values) - 1) * stats.sem(values)
    return f"{100 * values.mean():.1f} ± {100 * margin:.1f}"


def test_the_leaderboards_page_has_every_line_with_its_means_by_rank():
    html = leaderboard_page.page(leaderboard())
    trained = ACCURACY[ACCURACY["rule"] == "trained"]
    places = ["line", "task", "seed"]
    beyond = trained[trained["length"] > 16].groupby(places)["accuracy"].mean()
    longest = trained[trained["length"] == 16384].set_index(places)["accuracy"].sort_index()
    lines = dict(rows(html, "lines"))
    for line in MEANS:
        shown = [mean_and_margin(of[line, task]) for task in ("argmax", "dictionary") for of in (beyond, longest)]
        assert lines[line][-5:] == [*shown, "1.5"]
    smallest = beyond.groupby(["line", "task"]).mean().groupby("line").min()
    assert list(lines) == [*smallest.sort_values(ascending=False).index, "broken"]
    gain = mean_and_margin(beyond["best", "dictionary"] - beyond["softmax", "dictionary"])
    assert f"+{gain}" in dict(rows(html, "ablation"))["attention: softmax → power"]
    assert "1.5e−06" in dict(rows(html, "ceiling"))["softmax"]
    assert ", 2 of 10 treatments are at 90% or more on every task" in html
