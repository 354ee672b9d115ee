"""The pages, read as text: nothing of the results is lost, nothing is unescaped."""

import re
from dataclasses import replace
from html import unescape
from urllib.parse import unquote

import pytest
from made_up_leaderboard import ACCURACY, MEANS, leaderboard
from made_up_results import CLAIM, ROOT, comparisons, evidence, made_up
from scipy import stats

from vanishing_variance.core.errors import InputError
from vanishing_variance.report import leaderboard as leaderboard_page
from vanishing_variance.report import page as study_page
from vanishing_variance.report.figures import NAMES
from vanishing_variance.report.page import page, side
from vanishing_variance.report.strongest import Evidence

MACHINE = {"device": "A <fast> one", "cores": 2, "revision": "0123456789ab-dirty"}
TIMES = [
    {"stage": "check", "seconds": 0.01},
    {"stage": "train-argmax-short-ln-0", "seconds": 30.25},
    {"stage": "train-argmax-short-none-0", "seconds": 29.5},
    {"stage": "ttest", "seconds": 3.0},
    {"stage": "review", "seconds": 900.0},
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


def test_every_picture_stands_on_the_page_with_its_caption():
    html = unquote(unescape(page(made_up()).html))
    for name in NAMES:
        assert html.count(f'{name} 100% #1 "x"') == 1
        assert html.count(f"<figcaption><b>Title of {name}.</b> N ≥ 2⁴ <in {name}></figcaption>") == 1
    assert "<b>The record: title of accuracy of the record.</b>" in html


def test_names_and_texts_are_escaped():
    html = page(made_up("<b>", evidence=evidence(claim="<i>x</i> & 2^4"), tests=comparisons("<b>"))).html
    assert "+ &lt;b&gt;" in html
    assert "&lt;i&gt;x&lt;/i&gt; &amp; 2<sup>4</sup>" in html
    assert "<i>x" not in html
    assert not re.search(r"(\+|against|of|treatment</dt><dd>) <b>", html)
    assert "<good>" not in leaderboard_page.page(leaderboard())


def test_weaker_evidence_of_this_run_stands_below_the_records_which_leads():
    html = unescape(page(made_up()).html)
    [point] = re.findall(r"<p>This run, (.*?)</p>", html)
    assert point.startswith("10,000 of the paper's 100,000 steps, n = 2: not comparable, −1.0 pp [−2.0, +0.5]")
    assert 'id="record-table1"' in html
    alone = page(made_up(evidence={"claim": Evidence(CLAIM)})).html
    assert "This run, " not in alone
    assert 'id="record-table1"' not in alone


def test_the_same_results_give_the_same_bytes_and_others_another_fingerprint():
    first, same, other = (page(made_up(**changes)) for changes in ({}, {}, {"source": "norm: ln\n"}))
    assert first == same
    assert first.fingerprint in first.html
    assert first.fingerprint != other.fingerprint
    assert str(ROOT) not in first.html


def test_the_side_file_has_the_machine_and_the_longest_stages_first():
    html = side("abc", MACHINE, TIMES)
    assert "A &lt;fast&gt; one" in html
    assert re.findall(r"<th scope=\"row\">(\w+)</th><td>(\d)</td><td>([\d.]+)</td>", html) == [
        ("train", "2", "59.8"),
        ("ttest", "1", "3.0"),
        ("check", "1", "0.0"),
    ]
    assert "review" not in html
    assert 'fingerprint: "abc"' in html


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
