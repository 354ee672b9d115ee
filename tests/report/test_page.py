import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from html import unescape
from urllib.parse import unquote
from xml.etree import ElementTree

import pytest
from made_up_results import CLAIM, ROOT, comparisons, evidence, made_up, picture

from vanishing_variance.core.errors import InputError
from vanishing_variance.report.answer import answer
from vanishing_variance.report.chart import chart
from vanishing_variance.report.figures import NAMES
from vanishing_variance.report.page import page, side
from vanishing_variance.report.rendering import script
from vanishing_variance.report.strongest import Evidence

MACHINE = {"device": "A <fast> one", "cores": 2, "revision": "0123456789ab-dirty"}
TIMES = [
    {"stage": "check", "seconds": 0.01},
    {"stage": "train-argmax-short-ln-0", "seconds": 30.25},
    {"stage": "train-argmax-short-none-0", "seconds": 29.5},
    {"stage": "ttest", "seconds": 3.0},
]


def led_by(record):
    return made_up(records={"record": record, "other": record})


def test_everything_stands_in_its_order():
    html = page(made_up()).html
    found = re.findall(r'<(?:section|figure)[^>]* id="([^"]+)"', html)
    assert found == [
        *(
            "lead",
            "verdicts",
            "records",
            "cause",
            "interventions",
            "interventions-figure",
            "mechanism-figure",
            "mechanism",
        ),
        *("leaderboard", "curves", "chart-figure", "accuracy-figure", "accuracy-long-figure"),
        *("tables", "record-table1", *(f"table{number}" for number in range(1, 7))),
        *("figures", "recorded-figure", "figure1-figure", "figure2-figure", "figure3-figure", "figure4-figure"),
        "proposition-figure",
        *("losses", "loss-figure", "loss-long-figure", "study", "run"),
    ]
    assert len(set(re.findall(r'\bid="([^"]+)"', html))) == len(re.findall(r'\bid="', html))
    assert '<b>2</b> <span class="badge undecided"><span aria-hidden="true">?</span> undecided</span>' in html
    assert '<td class="below" style="--share: 1.0">−40.0</td>' in html
    assert "global moments of the long length, before the normaliser" in html
    assert "after the normaliser" not in html


def test_the_page_carries_every_picture():
    html = page(made_up()).html
    carried = [unquote(image) for image in re.findall(r'<img src="data:image/svg\+xml,([^"]*)"', html)]
    titles = [ElementTree.fromstring(image).findtext("{http://www.w3.org/2000/svg}title") for image in carried]
    assert sorted(titles) == sorted(f'{name} 100% #1 "x"' for name in (*NAMES, "accuracy of the record"))


def test_the_chart_and_its_script_stand_in_the_page_whole():
    results = made_up("<b>", tests=comparisons("<b>"))
    html = page(results).html
    [document] = re.findall(r'<script type="application/json" id="chart-specification">(.*?)</script>', html)
    assert json.loads(document) == chart(results.tests, results.paper, results.params)
    [code] = re.findall(r'<script type="module">\n(.*?)\n</script>', html, re.DOTALL)
    assert code == script()
    assert "</script" not in code


def test_the_licences_of_what_is_bundled_stand_above_it():
    for text in ("University of Washington Interactive Data Lab", "Mike Bostock", "Joachim Wester", "Simon Lydell"):
        assert text in script().partition("*/")[0]


def test_a_run_that_the_record_adds_nothing_to_leads_by_itself():
    html = page(made_up(evidence={"claim": Evidence(CLAIM)})).html
    assert "recorded-figure" not in html
    assert "This run, " not in html
    assert "reproduced: 2 seeds (the paper: 100)" in html


def test_a_record_of_more_seeds_of_the_same_leads_too():
    html = page(made_up(evidence={"claim": Evidence(CLAIM, recorded=True)})).html
    assert "recorded-figure" in html
    assert "This run, " not in html


def test_the_record_is_on_the_first_screen_where_it_leads():
    record = made_up().records["record"]
    of_fewer = (record.tests["temperature"] == "fitted") | (record.tests["range"] == "long")
    fewer = record.tests["n"].mask(of_fewer, 4)
    tests = record.tests.assign(baseline_mean=75.0, n=fewer)
    assert set(fewer) == {4, 8}
    html = page(led_by(replace(record, tests=tests))).html
    assert "reproduced: 8 seeds (the paper: 100), gradient steps: argmax 30 of 100,000, dictionary 30 of 10,000" in html
    for task, steps in (("argmax", 100_000), ("dictionary", 10_000)):
        record.params["tasks"][task]["steps"]["short"] = steps
    said = page(led_by(record)).html
    assert "reproduced: 8 seeds (the paper: 100), the paper’s gradient steps: argmax 100,000, dictionary 10,000" in said
    assert "none falls from 75.0% to 75.0%" in html
    assert "none falls from 75.0%" not in page(made_up(evidence={"claim": Evidence(CLAIM)})).html


def test_the_record_shows_all_its_ranges():
    record = made_up().records["record"]
    html = page(led_by(replace(record, pictures=[*record.pictures, picture("the long range")]))).html
    assert re.findall(r'<figure[^>]* id="(recorded[^"]*)"', html) == ["recorded-figure", "recorded1-figure"]
    assert "<b>The record: title of the long range.</b>" in html


def test_the_answer_stands_in_the_first_screen():
    html, said = unescape(page(made_up()).html), " ".join(map(str, answer(evidence())))
    assert html.index("<h1>") < html.index(said) < html.index('id="lead"')


def test_where_nothing_was_tested_there_is_no_figure_on_the_first_screen():
    assert 'id="lead"' not in page(made_up(evidence={}, tests=comparisons(ranges=["long"]))).html


def test_the_page_in_git_is_small():
    assert (ROOT / "plots/report/index.html").stat().st_size <= 3_000_000


def test_links_to_files_of_the_repository_are_right():
    links = re.findall(r'href="(\.\./[^"]+)"', page(made_up()).html)
    assert set(links) == {"../../README.md", "../../docs/leaderboard.md", "../../metrics/leaderboard/board.md"}
    assert (ROOT / "plots/report/../../docs/leaderboard.md").exists()
    assert "metrics/leaderboard/board.md" in (ROOT / "leaderboard/dvc.yaml").read_text()


def test_weaker_evidence_of_this_run_stands_below_the_records():
    html = page(made_up()).html
    assert html.count("<p>This run, ") == 1
    assert (
        "<p>This run, 10,000 of the paper&#39;s 100,000 steps, n = 2: not comparable, −1.0 pp [−2.0, +0.5]</p>" in html
    )
    assert "Supported; the paper&#39;s steps, n = 2." in html
    assert "The rule. supported where the interval lies above 0 at 2<sup>14</sup>" in html
    meaning = "the models had fewer gradient steps than the paper&#39;s"
    assert f"<dt>not comparable</dt><dd>{meaning}" in html
    assert "more than 0.5 percentage points below the paper&#39;s at 2<sup>4</sup>" in html


def test_a_pictures_words_stand_below_it():
    html = page(made_up()).html
    for name in NAMES:
        assert f"<figcaption><b>Title of {name}.</b> N ≥ 2⁴ &lt;in {name}&gt;</figcaption>" in html
        assert f'alt="Title of {name}"' in html
    assert "<b>The record: title of accuracy of the record.</b> N ≥ 2⁴ &lt;in accuracy of the record&gt;<" in html


@pytest.mark.parametrize("part", ["title", "description"])
def test_a_picture_without_words_is_one_line(part):
    shown = made_up()
    bare = re.sub(f"<dc:{part}>.*</dc:{part}>", "", shown.pictures["loss"])
    with pytest.raises(InputError, match=r"^loss.svg: carries no title and caption; draw it again$"):
        page(replace(shown, pictures={**shown.pictures, "loss": bare}))


def test_the_page_says_what_was_run():
    html = page(made_up()).html
    for text in (
        "8 seeds (the paper: 100), gradient steps: argmax 30 of 100,000, dictionary 30 of 10,000",
        "<dt>seeds</dt><dd>2: 1 × 2 (blocks × seeds a block)</dd>",
        "<dt>gradient steps</dt><dd>argmax short 30, dictionary short 30, argmax long 30, dictionary long 30</dd>",
        "<dt>training lengths</dt><dd>short 2 to 4, long 2 to 16</dd>",
        "<dt>test lengths</dt><dd>2<sup>2</sup>, 2<sup>4</sup>, 2<sup>6</sup></dd>",
        "<dt>test sequences</dt><dd>64 a length</dd>",
    ):
        assert text in html


def test_names_and_texts_are_escaped():
    html = page(made_up("<b>", evidence=evidence(claim="<i>x</i> & 2^4"), tests=comparisons("<b>"))).html
    assert "+ &lt;b&gt;" in html
    assert "none against &lt;b&gt;" in html
    assert "&lt;i&gt;x&lt;/i&gt; &amp; 2<sup>4</sup>" in html
    assert "<i>x" not in html
    assert not re.search(r"(\+|against|of|treatment</dt><dd>) <b>", html)


def test_the_same_results_give_the_same_bytes():
    """Whatever the order of sets is in this process."""
    command = "import sys; from made_up_results import made_up; from vanishing_variance.report.page import page; "
    command += "sys.stdout.buffer.write(page(made_up()).html.encode())"
    path = os.pathsep.join(str(ROOT / folder) for folder in ("src", "tests/report"))
    made = {
        subprocess.run(
            [sys.executable, "-c", command],
            cwd="/",
            env={**os.environ, "PYTHONPATH": path, "PYTHONHASHSEED": seed},
            check=True,
            stdout=subprocess.PIPE,
        ).stdout
        for seed in ("1", "2")
    }
    assert made == {page(made_up()).html.encode()}
    assert str(ROOT) not in page(made_up()).html


def test_the_fingerprint_tells_pages_apart():
    first, second = page(made_up()), page(made_up(source="norm: ln\n"))
    assert first.fingerprint in first.html
    assert first.fingerprint != second.fingerprint


def test_a_bad_parameter_is_one_line():
    params = {**made_up().params, "seeds_per_block": "many"}
    with pytest.raises(InputError, match=r"params.yaml: seeds_per_block is 'many'; must be"):
        page(made_up(params=params))


def test_the_side_file_has_the_machine_and_the_longest_stages_first():
    html = side("abc", MACHINE, TIMES)
    assert "A &lt;fast&gt; one" in html
    assert "0123456789ab-dirty" in html
    assert re.findall(r"<th scope=\"row\">(\w+)</th><td>(\d)</td><td>([\d.]+)</td>", html) == [
        ("train", "2", "59.8"),
        ("ttest", "1", "3.0"),
        ("check", "1", "0.0"),
    ]
    assert "1.0 minutes in all" in html
    assert '<th scope="row">train-argmax-short-ln-0</th><td>30.2</td>' in html
    assert 'fingerprint: "abc"' in html


def test_scripts_that_are_no_stages_do_not_count():
    assert "review" not in side("abc", MACHINE, [*TIMES, {"stage": "review", "seconds": 900.0}])


def test_without_times_there_is_no_table_of_them():
    assert "<table" not in side("abc", MACHINE, [])


def test_results_of_another_treatment_are_refused_by_name():
    results = made_up()
    with pytest.raises(InputError, match=r"^params.yaml: norm is 'rms', of which metrics/tables has no results"):
        page(replace(results, params=dict(results.params) | {"norm": "rms"}))
