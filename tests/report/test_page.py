"""The page, read as text: nothing of the results is lost, nothing is unescaped."""

import re
from dataclasses import replace
from html import unescape

import pytest
from checkout import ROOT
from made_up_results import comparisons, evidence, made_up

from vanishing_variance.harness.errors import InputError
from vanishing_variance.report import page as study_page
from vanishing_variance.report.page import page


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
    html = page(made_up("<b>"))
    shown = [table for of in made for table in (of if isinstance(of, list) else [of])]
    assert len(shown) == 1 + 6 + 2
    for table in shown:
        cells = [(name, [cell.text for cell in of]) for _, group in table.groups for name, of in group]
        assert len(cells) >= 5
        assert rows(html, table.anchor) == cells


def test_names_and_texts_are_escaped():
    html = page(made_up("<b>", evidence=evidence(claim="<i>x</i> & 2^4"), tests=comparisons("<b>")))
    assert "+ &lt;b&gt;" in html
    assert "&lt;i&gt;x&lt;/i&gt; &amp; 2<sup>4</sup>" in html
    assert "<i>x" not in html
    assert not re.search(r"(\+|against|of|treatment</dt><dd>) <b>", html)


def test_the_same_results_give_the_same_bytes():
    first, same, other = (page(made_up(**changes)) for changes in ({}, {}, {"source": "norm: ln\n"}))
    assert first == same != other
    assert str(ROOT) not in first


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
