"""The page, read as text: nothing of the results is lost, nothing is unescaped."""

import re
from dataclasses import replace

import pytest
from checkout import ROOT
from made_up_results import CLAIM, VERDICTS, claims, made_up, paper

from vanishing_variance.harness.errors import InputError
from vanishing_variance.report.page import page
from vanishing_variance.report.strongest import Study


def rendered(run=None, record=None, source="norm: ln\n"):
    return page(run or made_up(), {"paper-scale": record or made_up(drawn="recorded")}, paper(), source)


def test_verdicts_numbers_tables_and_captions_stand_on_the_page():
    html = rendered()
    for key, verdict in VERDICTS.items():
        row = html.partition(f'<tr id="claim-{key}">')[2].partition("</tr>")[0]
        assert all(said in row for said in (verdict, "+3.2 [−1.0, +5.5] pp", "+1.8", "argmax 100,000", CLAIM["rule"]))
    assert html.count("<h4>Table 1. argmax, trained on the short range") == 2
    assert html.count("Caption of &lt;recorded&gt;, n = 2") == html.count("Caption of &lt;accuracy&gt;, n = 2") == 1
    assert "Reduced scale" in html
    assert "<script" not in html


def test_where_the_record_leads_this_runs_verdict_stands_beside_it():
    html = rendered(made_up(verdict="undecided", ours=-2.0), made_up(n=100))
    row = html.partition('<tr id="claim-argmax">')[2].partition("</tr>")[0]
    assert "supported" in row
    assert "This run: undecided, −2.0 [−1.0, +5.5] pp" in " ".join(row.split())


def test_names_and_texts_are_escaped():
    html = rendered(made_up("<b>", claim="<i>x</i> & 2^4"))
    assert "+ &lt;b&gt;" in html
    assert "&lt;i&gt;x&lt;/i&gt; &amp; 2^4" in html
    assert "<i>x" not in html
    assert not re.search(r"\+ <b>", html)


def test_the_same_results_give_the_same_bytes():
    first, same, other = rendered(), rendered(), rendered(source="norm: rms\n")
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
    run = made_up()
    with pytest.raises(InputError, match=said):
        rendered(replace(run, study=Study(claims(), {**run.study.params, **changes})))
