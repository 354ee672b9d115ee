"""The page, read as text: it is that of the results, and nothing is unescaped."""

from dataclasses import replace

import pandas as pd
import pytest
from checkout import ROOT
from made_up_results import claims, draw, made_up, rendered
from PIL import Image

from stages import report
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.files import read_text
from vanishing_variance.report.page import read_figure
from vanishing_variance.report.strongest import Judged


def test_the_page_in_git_is_that_of_its_results(monkeypatch):
    """Else: dvc repro report. Of the leaderboard, a graph of its own, it says how many seeds there are."""
    monkeypatch.chdir(ROOT)
    written = {}
    monkeypatch.setattr(report, "write_text", lambda path, text: written.update({path: text}))
    monkeypatch.setattr("sys.argv", ["report"])
    report.main()
    assert written == {report.PAGE: report.PAGE.read_text()}
    seeds = pd.read_csv("studies/leaderboard/results/argmax-power-0.csv")["seed"].nunique()
    assert f"Means over n = {seeds} seeds; bars" in written[report.PAGE]


def test_names_and_texts_are_escaped():
    html = rendered(made_up("<b>", claim="<i>x</i> & 2^4"))
    assert "+ &lt;b&gt;" in html
    assert "+ <b>" not in html
    assert "&lt;i&gt;x&lt;/i&gt; &amp; 2^4" in html
    assert "<i>x" not in html


def test_results_of_another_treatment_are_one_line():
    run = made_up()
    judged = Judged(claims(), {**run.judged.params, "norm": "rms"})
    with pytest.raises(InputError, match=r"^params.yaml: norm is 'rms', of which metrics/tables has no results"):
        rendered(replace(run, judged=judged))


def test_the_page_says_what_was_trained_and_how():
    run = made_up()
    lacks = "long range: not trained (Tables 4 and 5); to train it, too: dvc exp run -S &#39;train_also_on=[long]&#39;"

    def html(**changes):
        return rendered(replace(run, judged=Judged(claims(), {**run.judged.params, **changes})))

    assert lacks in html(train_also_on=[])
    both = html(train_also_on=["long"], attention="power")
    assert lacks not in both
    assert "argmax, long range: 30 of the paper&#39;s 100,000 gradient steps, attention power" in both
    assert both.count("gradient steps, attention power, n = 2 seeds</summary>") == 4


def test_a_figure_that_is_missing_cut_off_or_without_words_is_one_line(tmp_path):
    path = tmp_path / "figure.png"

    def refused():
        with pytest.raises(InputError, match=rf"^{path}: cannot be read as a figure: [^\n]*; draw it again"):
            read_figure(path, tmp_path)

    refused()
    draw(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    refused()
    Image.new("RGB", (2, 2)).save(path)
    refused()


@pytest.mark.parametrize(("content", "said"), [(None, "No such file"), (b"\xff\xfe\xfa", "not UTF-8")])
def test_a_text_that_cannot_be_read_is_one_line(content, said, tmp_path):
    path = tmp_path / "file"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=rf"^{path}: cannot be read as text: {said}[^\n]*run dvc repro$"):
        read_text(path)
