"""The page, read as text: nothing of the results is lost, nothing is unescaped."""

from dataclasses import replace
from xml.etree import ElementTree

import pytest
from checkout import ROOT
from made_up_results import CLAIM, VERDICTS, claims, comparisons, draw, made_up, paper
from PIL import Image

from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.files import read_text
from vanishing_variance.report.figures import read_figure
from vanishing_variance.report.page import page
from vanishing_variance.report.strongest import Study
from vanishing_variance.report.tables import paper_table
from vanishing_variance.results.tables import numbers


def rendered(run=None, record=None, source="norm: ln\n"):
    return page(run or made_up(), {"paper-scale": record or made_up(drawn="recorded")}, paper(), source)


def row_of(html, key):
    row, *_ = html.partition(f'<tr id="claim-{key}">')[2].partition("</tr>")
    return " ".join(row.split())


def test_verdicts_numbers_tables_and_captions_stand_on_the_page():
    html = rendered()
    for key, verdict in VERDICTS.items():
        row = row_of(html, key)
        for said in (verdict, "+3.2 [−1.0, +5.5] pp", "+1.8", "argmax 100,000", CLAIM["rule"]):
            assert said in row
    assert html.count("<h4>Table 1. argmax, trained on the short range") == 2
    assert html.count("Caption of &lt;recorded&gt;, n = 2") == 1
    assert html.count("Caption of &lt;accuracy&gt;, n = 2") == 1
    assert "<script" not in html


def test_names_and_texts_are_escaped():
    html = rendered(made_up("<b>", claim="<i>x</i> & 2^4"))
    assert "+ &lt;b&gt;" in html
    assert "+ <b>" not in html
    assert "&lt;i&gt;x&lt;/i&gt; &amp; 2^4" in html
    assert "<i>x" not in html


def test_the_same_results_give_the_same_bytes():
    html = rendered()
    assert html == rendered()
    assert html != rendered(source="norm: rms\n")
    assert str(ROOT) not in html


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"seeds_per_block": "many"}, r"^params.yaml: seeds_per_block is 'many'; must be"),
        ({"norm": "rms"}, r"^params.yaml: norm is 'rms', of which metrics/tables has no results"),
    ],
)
def test_a_bad_parameter_or_results_of_another_treatment_are_one_line(changes, said):
    run = made_up()
    study = Study(claims(), {**run.study.params, **changes})
    with pytest.raises(InputError, match=said):
        rendered(replace(run, study=study))


def test_the_page_says_what_was_trained_and_how():
    run = made_up()
    lacks = "long range: not trained (Tables 4 and 5); to train it, too: dvc exp run -S &#39;train_also_on=[long]&#39;"

    def html(**changes):
        return rendered(replace(run, study=Study(claims(), {**run.study.params, **changes})))

    assert lacks in html(train_also_on=[])
    both = html(train_also_on=["long"], attention="power")
    assert lacks not in both
    assert "argmax, long range: 30 of the paper&#39;s 100,000 gradient steps, attention power" in both
    assert both.count("gradient steps, attention power, n = 2 seeds</h4>") == 4


def cells(html):
    """Return the texts of every row's last three cells, by the one before."""
    found = {}
    for row in ElementTree.fromstring(html).iter("tr"):
        texts = [cell.text for cell in row]
        found[texts[-4]] = texts[-3:]
    return found


def test_table_1_has_ours_and_the_papers_by_length():
    table = numbers(comparisons(), "ln", paper())[1]
    found = cells(paper_table(1, table[table["rule"] == "plain"], "ln"))
    assert found["+ ln"] == ["50.0", "51.0", "52.0"]
    assert found["ln − none (pp)"] == ["+0.0", "+1.0", "+2.0"]
    assert found["95% interval"] == ["−1.5, +1.5", "−0.5, +2.5", "+0.5, +3.5"]
    assert found["p, Holm"] == ["0", "0.01", "0.02"]
    assert found["paper: none"] == ["–", "–", "49.8"]
    assert found["paper: p"] == ["–", "–", "0.003"]
    html = paper_table(1, table, "ln")
    assert html.index("without test-time adaptation") < html.index("which uses labels")


def write_half(path):
    draw(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])


def write_without_words(path):
    Image.new("RGB", (2, 2)).save(path)


@pytest.mark.parametrize("write", [lambda path: None, write_half, write_without_words])
def test_a_figure_that_is_missing_cut_off_or_without_words_is_one_line(tmp_path, write):
    path = tmp_path / "figure.png"
    write(path)
    with pytest.raises(InputError, match=rf"^{path}: cannot be read as a figure: [^\n]*; draw it again"):
        read_figure(path, tmp_path)


@pytest.mark.parametrize(("content", "said"), [(None, "No such file"), (b"\xff\xfe\xfa", "not UTF-8")])
def test_a_text_that_cannot_be_read_is_one_line(content, said, tmp_path):
    path = tmp_path / "file"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=rf"^{path}: cannot be read as text: {said}[^\n]*run dvc repro$"):
        read_text(path)
