"""The page, read as text: it is that of the results, and nothing is unescaped."""

import re
from dataclasses import replace

import pandas as pd
import pytest
from checkout import ROOT
from PIL import Image

from stages import report
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.files import read_document
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.params import changed
from vanishing_variance.report.page import page, read_figure, require_compared
from vanishing_variance.report.readme import BEGIN, END, points, rewritten
from vanishing_variance.report.strongest import Results, Strongest, strongest

CLAIM = read_document(ROOT / "metrics/claims.json")["argmax"]


@pytest.fixture(scope="module")
def given():
    """What the stage gives the page, of the results in git."""
    arguments = []
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(ROOT)
        patch.setattr(report, "page", lambda *given: arguments.extend(given))
        patch.setattr(report, "write_text", lambda path, text: None)
        patch.setattr("sys.argv", ["report"])
        report.main()
    return arguments


def rendered(given, run=None, **params):
    """Return the page of the results in git, but for the run's, or some of its parameters."""
    pictures, figures, said, own, *others = given
    run = run or own
    return page(pictures, figures, said, replace(run, params=run.params | params), *others)


def test_the_page_in_git_is_that_of_its_results(given):
    """Else: dvc repro report. Of the leaderboard, a graph of its own, it says how many seeds there are."""
    html = rendered(given)
    assert html == (ROOT / report.PAGE).read_text()
    seeds = pd.read_csv(ROOT / "studies/leaderboard/results/kept.csv")["seed"].nunique()
    assert f"Means over n = {seeds} seeds; bars" in html


def test_names_and_texts_are_escaped(given):
    run = given[3]
    ln = run.tests["line"] == "ln"
    tests = pd.concat([run.tests, run.tests[ln].assign(line="<b>")])
    claims = {key: {**claim, "claim": "<i>x</i> & 2^4"} for key, claim in run.claims.items()}
    html = rendered(given, replace(run, tests=tests, claims=claims), norm="<b>")
    assert "+ &lt;b&gt;" in html
    assert "+ <b>" not in html
    assert "&lt;i&gt;x&lt;/i&gt; &amp; 2^4" in html
    assert "<i>x" not in html


def test_results_of_another_treatment_are_one_line(given):
    with pytest.raises(InputError, match=r"^params.yaml: norm is 'rms', of which metrics/tables has no results"):
        rendered(given, norm="rms")


def test_the_page_says_what_was_trained_and_how(given):
    lacks = "long range: not trained (Tables 4 and 5); to train it, too: dvc exp run -S &#39;train_on=[short,long]&#39;"
    assert lacks in rendered(given, train_on=["short"])
    both = rendered(given, train_on=["short", "long"], attention="power")
    assert lacks not in both
    assert "argmax, long range: 4,000 of the paper&#39;s 100,000 gradient steps, attention power" in both
    assert len(re.findall(r"gradient steps, attention power, n = \d+ seeds</summary>", both)) == 4


def test_a_page_of_results_that_were_compared_with_other_parameters_is_one_line(monkeypatch):
    monkeypatch.chdir(ROOT)
    params = changed(read_yaml(ROOT / "params.yaml"), {"training.decay": "cosine"})
    with pytest.raises(InputError, match=r"^params.yaml: training was edited since results were compared; put it back"):
        require_compared(params, report._compared())


def test_a_figure_that_is_missing_cut_off_or_without_words_is_one_line(tmp_path):
    path = tmp_path / "figure.png"

    def refused():
        with pytest.raises(InputError, match=rf"^{path}: cannot be read as a figure: [^\n]*; draw it again"):
            read_figure(path, tmp_path)

    refused()
    whole = (ROOT / "plots/readme/answer.png").read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    refused()
    Image.new("RGB", (2, 2)).save(path)
    refused()


SUPPORTED, UNDECIDED = "supported", "undecided"
NOT_COMPARABLE, NOT_TESTED = "not comparable", "not tested"
FEW, ENOUGH = {"argmax": 4_000}, {"argmax": 100_000}


def study(verdict, steps=FEW, n=8, sequences=512):
    """Return one claim, of models trained for as many steps."""
    claim = {**CLAIM, "verdict": verdict, "steps": steps, "n": n}
    network = {"attention": "softmax", "network": "paper", "network_options": {}, "model": {"width": 128}}
    return Results({"gain": claim}, network | {"test": {"sequences": sequences}})


AT_SCALE = study(SUPPORTED, ENOUGH, sequences=4096)


@pytest.mark.parametrize(
    ("run", "paper_scale", "leads"),
    [
        # what is comparable with the paper's, whatever it says
        (study(NOT_COMPARABLE, n=100, sequences=8192), AT_SCALE, "study"),
        # what was tested
        (study(NOT_COMPARABLE), study(NOT_TESTED, ENOUGH, sequences=4096), "run"),
        (study(NOT_TESTED), AT_SCALE, "study"),
        # the paper's steps, then more seeds, then more test sequences, then this run
        (study(UNDECIDED, n=100, sequences=8192), AT_SCALE, "study"),
        (study(UNDECIDED, ENOUGH, n=100), AT_SCALE, "run"),
        (study(UNDECIDED, ENOUGH, n=4, sequences=8192), AT_SCALE, "study"),
        (study(UNDECIDED, ENOUGH), AT_SCALE, "study"),
        # what rests on no trained models is this run's
        (study(UNDECIDED, {}, n=None), study(SUPPORTED, {}, n=None, sequences=4096), "run"),
        # and what the study does not know
        (study(UNDECIDED), replace(AT_SCALE, claims={}), "run"),
        # and what is of another network
        (replace(study(UNDECIDED), params=AT_SCALE.params | {"attention": "power"}), AT_SCALE, "run"),
    ],
)
def test_the_stronger_evidence_leads_and_this_runs_stands_beside_it(run, paper_scale, leads):
    ours = run.claims["gain"]
    expected = Strongest(ours) if leads == "run" else Strongest(paper_scale.claims["gain"], weaker=ours)
    assert strongest(run, paper_scale) == {"gain": expected}


def test_the_points_of_the_readme_are_html():
    text = "# x\n\n1. **A <b>** at 2^14 gains 4.0 [3.1, 4.9], see\n   [there](docs/a.md#b).\n2. Second.\n\n![x](p.png)"
    first = '<b>A &lt;b&gt;</b> at 2<sup>14</sup> gains 4.0 [3.1, 4.9], see <a href="../../docs/a.md#b">there</a>.'
    assert points(text) == [first, "Second."]


def test_nothing_but_the_block_changes():
    text = rewritten(f"before\n\n{BEGIN}\n| old |\n{END}\nafter\n", "new")
    assert text == f"before\n\n{BEGIN}\nnew\n{END}\nafter\n"


@pytest.mark.parametrize("text", ["", BEGIN, END + BEGIN])
def test_a_readme_without_markers_is_left_alone(text):
    with pytest.raises(InputError, match=rf"^README\.md: the lines {BEGIN}"):
        rewritten(text, "")
