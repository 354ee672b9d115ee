"""The page, read as text: nothing of the results is lost, nothing is unescaped."""

import re
from dataclasses import replace
from xml.etree import ElementTree

import pandas as pd
import pytest
import yaml
from checkout import ROOT
from made_up_results import CLAIM, VERDICTS, claims, comparisons, draw, made_up, paper, rendered
from PIL import Image

from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.files import read_text
from vanishing_variance.report.page import read_figure
from vanishing_variance.report.strongest import Study
from vanishing_variance.report.tables import paper_table
from vanishing_variance.results.tables import numbers


def text_of(html, start, end):
    """Return the words between two marks, without tags."""
    part, *_ = html.partition(start)[2].partition(end)
    return " ".join(re.sub("<[^>]+>|&nbsp;", " ", part).split())


def resolve_outputs(study):
    """Return the paths that a study's `compare` writes, whether it has run or not."""
    outs = yaml.safe_load((study / "dvc.yaml").read_text())["stages"]["compare"]["outs"]
    return {path for out in outs for path in out}


def test_verdicts_numbers_tables_and_captions_stand_on_the_page():
    html = rendered()
    for key, verdict in VERDICTS.items():
        row = text_of(html, f'<tr id="claim-{key}">', "</tr>")
        for said in (f"{verdict} †", "+3.2 [−1.0, +5.5] pp", "+1.8", "argmax 100,000", CLAIM["rule"]):
            assert said in row
    assert html.count("<summary>Table 1. argmax, trained on the short range") == 2
    assert html.count("Caption of &lt;recorded&gt;, n = 2") == 1
    assert html.count("Caption of &lt;accuracy&gt;, n = 2") == 1
    assert "<script" not in html


def test_the_answer_comes_first_and_compares_recovered_shares():
    html = rendered()
    answer = text_of(html, "<header>", "</header>")
    assert "ln helps on argmax: supported +3.2 [−1.0, +5.5] pp ; the paper: +1.8; n = 2" in answer
    assert "On the dictionary: undecided +3.2" in answer
    assert "Without biases in attention: −0.9 [−1.0, +5.5] pp ; n = 3." in answer
    assert "brings back 99% (argmax) and 50% (dictionary)" in answer
    assert "keep 94% (argmax) and 94% (dictionary) at 16,384 items; n = 2" in answer
    assert "mean and variance of O brings back 0% and 0%, those of every feature 13% and 6%; n = 2." in answer
    causes = text_of(html, '<section id="causes">', "</section>")
    assert "feature of O 13% [11, 15] 27% [25, 29] 6% [4, 8] 14% [12, 16]" in causes
    assert "lose 41% [39, 43] as much on argmax and 20% [18, 22] on the dictionary" in causes
    assert "700%" not in html


def test_sections_follow_each_other_and_the_navigation_leads_to_all():
    html = rendered()
    sections = re.findall('<section id="(.*?)">', html)
    assert sections == ["accuracy", "causes", "leaderboard", "verdicts", "run", "tables", "figures", "records"]
    assert re.findall('href="#(.*?)"', html.partition("</nav>")[0]) == sections


def test_the_papers_verdicts_are_counted_apart_from_ours():
    run = made_up()
    run.study.claims["argmax"]["where"] = "ours, on Section 3.1"
    verdicts = text_of(rendered(run), "<h2>Verdicts</h2>", "</p>")
    assert verdicts == (
        "Of the paper’s 4 claims: 1 contradicted, 1 undecided, 1 not comparable, 1 not tested. Of our 1: 1 supported."
    )


def test_what_is_said_of_the_leaderboard_is_what_it_has_and_its_links_lead_to_files():
    """The page cannot depend on it: it is a graph of its own."""
    folder = ROOT / "studies/leaderboard"
    seeds = pd.read_csv(folder / "results/argmax-power.csv")["seed"].nunique()
    html = rendered()
    assert f"Means over n = {seeds} seeds; bars" in html
    leaderboard = html.partition('<section id="leaderboard">')[2].partition("</section>")[0]
    outputs = resolve_outputs(folder)
    addresses = set(re.findall('(?:href|src)="(.*?)"', leaderboard))
    paths = {(ROOT / "plots/report" / address).resolve().relative_to(ROOT) for address in addresses}
    assert len(paths) == 3
    assert [path for path in paths if not (ROOT / path).exists() and path.as_posix() not in outputs] == []


def test_names_and_texts_are_escaped():
    html = rendered(made_up("<b>", claim="<i>x</i> & 2^4"))
    assert "+ &lt;b&gt;" in html
    assert "+ <b>" not in html
    assert "&lt;i&gt;x&lt;/i&gt; &amp; 2^4" in html
    assert "<i>x" not in html


def test_results_of_another_treatment_are_one_line():
    run = made_up()
    study = Study(claims(), {**run.study.params, "norm": "rms"})
    with pytest.raises(InputError, match=r"^params.yaml: norm is 'rms', of which metrics/tables has no results"):
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
    assert both.count("gradient steps, attention power, n = 2 seeds</summary>") == 4


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
