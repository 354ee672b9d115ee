from dataclasses import replace

from vanishing_variance.review.comment import MARKER, blocks
from vanishing_variance.review.facts import Facts, Trial
from vanishing_variance.review.lock import Change
from vanishing_variance.review.markdown import comment
from vanishing_variance.review.pairs import Pair
from vanishing_variance.review.smoke import Reproduced

NOTHING = Facts([], [], [], (None, None), [], [], {})


def claims(verdict, ours):
    said = {"claim": "ln helps on the dictionary", "where": "Section 3.1, Table 2", "ours": ours, "unit": "pp"}
    return {"ln": {**said, "verdict": verdict}, "other": {**said, "verdict": "undecided"}}


SOME = Facts(
    parameters=[Pair("params.yaml", "norm", "ln", "std"), Pair("params.yaml", "test.lengths", [4, 16], [4])],
    metrics=[Pair("metrics/summary.json", f"key{number:02}", 1.0, 1.5) for number in range(45)],
    details=[Pair("metrics/argmax.json", "short.plain.log10_p.00016", -0.5, -0.75)],
    claims=(claims("undecided", 0.5), claims("supported", 2.25)),
    files=[("M", "plots/figure3.svg"), ("M", "plots/figure3.png"), ("A", "metrics/tests.csv")],
    changes=[
        *(Change(f"train@{n}", "ran", ("`norm`",), {f"runs/{n}": n == "a"}) for n in "ab"),
        Change("ttest", "ran", tuple(f"`src/{n}.py`" for n in range(8)), {"metrics/tests.csv": False}),
        Change("evaluate@new", "new", (), {"runs/new": True}),
        Change("old", "gone", (), {}),
    ],
    stale={},
)
FINE = Reproduced(["check", "ttest"], None, [])
BROKEN = Reproduced(["check"], "check", ["Running stage 'check':", "error: params.yaml: norm is 'bogus'"])


def text(facts, trial=None):
    return comment(blocks(facts, "`main` (0123)", trial))


def seen(facts, trial=None):
    """What is not folded away."""
    return comment([block for block in blocks(facts, "`main` (0123)", trial) if not block.title])


def test_nothing_changed_is_said_first_after_the_marker():
    assert text(NOTHING).splitlines()[:4] == [MARKER, "## No result changes", "", "Compared with `main` (0123)."]
    assert "Verdicts" not in text(NOTHING)


def test_the_headline_counts_what_changed():
    headline = "## 1 verdict, 46 numbers, 1 figure and 1 other result file changed; 4 stages ran"
    assert text(SOME).splitlines()[1] == headline


def test_most_important_first():
    parts = ["## 1 verdict", "### Parameters", "### Verdicts", "### Numbers", "### Figures", "### Stages"]
    places = [text(SOME).index(part) for part in parts]
    assert places == sorted(places)


def test_parameters_verdicts_numbers_and_figures_are_rows():
    for row in (
        "| `norm` | `ln` | `std` |",
        "| `test.lengths` | `[4, 16]` | `[4]` |",
        "| ln helps on the dictionary | Section 3.1, Table 2 | undecided → **supported** | 0.5 pp → **2.25 pp** |",
        "| summary | `key00` | 1 | 1.5 | +0.5 (+50.0%) |",
        "- changed: `plots/figure3` (png, svg)",
    ):
        assert row in seen(SOME), row
    assert seen(SOME).count("| summary |") == 40
    assert text(SOME).count("| summary |") == 45
    assert "<summary>5 more numbers</summary>" in text(SOME)
    assert "| argmax | `short.plain.log10_p.00016` | -0.5 | -0.75 | -0.25 (-50.0%) |" in text(SOME)
    assert "short.plain" not in seen(SOME)


def test_stages_are_grouped_with_why_they_ran_and_what_came_of_it():
    reasons = ", ".join(f"`src/{n}.py`" for n in range(5))
    for row in (
        "| `train` × 2 | `norm` | 1 of 2 changed |",
        f"| `ttest` | {reasons} and 3 more | all the same |",
        "| `evaluate@new` | new | 1 made |",
        "| `old` | gone |  |",
    ):
        assert row in seen(SOME), row
    assert "`src/7.py`" in text(SOME)
    assert "- `runs/a`\n- `runs/new`" in text(SOME)
    same = replace(NOTHING, changes=[Change("a", "ran", (), {"b": True})])
    assert "| `a` | the same inputs | 1 of 1 changed |" in text(same)


def test_a_state_without_verdicts_is_told_and_unchanged_ones_are_counted():
    assert "The base has no `metrics/claims.json`" in text(replace(SOME, claims=(None, claims("supported", 1.0))))
    assert "This tree has no `metrics/claims.json`" in text(replace(SOME, claims=(claims("supported", 1.0), None)))
    assert "All 2 as before." in text(replace(SOME, claims=(claims("supported", 1.0), claims("supported", 2.0))))


def test_stale_results_are_warned_of_before_all_else():
    stale = {"train@a": ["`norm`"], "train@b": ["`norm`"], "figures": ["`src/figures/loss.py`"]}
    said = text(replace(SOME, stale=stale))
    assert said.splitlines()[1].endswith("; 4 stages ran, 3 have yet to run")
    assert "> **The results are not those of this tree**: run `dvc repro`, then commit `metrics/`" in said
    assert "\n> - `train` × 2: `norm`\n> - `figures`: `src/figures/loss.py`\n" in said
    assert said.index("[!WARNING]") < said.index("### Parameters")
    assert "WARNING" not in text(SOME)


def test_the_smoke_run_tells_what_ran_and_what_was_not_tried():
    said = seen(NOTHING, Trial(FINE, Reproduced(["ttest"], None, []), SOME, ["test.lengths"]))
    assert "The base: 2 stages ran, none failed." in said
    assert "This tree: 1 stage ran, none failed." in said
    assert "Not tried, because that scale has its own values: `test.lengths`." in said
    assert "| `train` × 2 | `norm` | 1 of 2 changed |" in said
    assert "CAUTION" not in said
    assert "## No result changes" in said
    whole = text(NOTHING, Trial(FINE, FINE, SOME, []))
    assert "<summary>46 numbers changed at smoke scale</summary>" in whole
    assert "<summary>1 verdict changed at smoke scale</summary>" in whole
    assert "Not tried" not in whole


def test_a_smoke_run_that_fails_is_told_above_with_its_last_lines_below():
    said = seen(NOTHING, Trial(FINE, BROKEN, NOTHING, []))
    assert "> **The smoke run fails** in `check`" in said
    assert said.index("CAUTION") < said.index("### At smoke scale")
    assert "This tree **fails** in `check`:\n\n```text\nRunning stage 'check':\nerror: params.yaml: norm is" in said
    assert "as it does at the base" not in said
    base = seen(NOTHING, Trial(Reproduced([], "", ["ERROR: no"]), FINE, NOTHING, []))
    assert "The base **fails**:\n\n```text\nERROR: no\n```" in base
    assert "CAUTION" not in base


def test_a_smoke_run_that_failed_before_is_not_held_against_the_tree():
    said = seen(NOTHING, Trial(BROKEN, replace(BROKEN), NOTHING, []))
    assert "> **The smoke run fails** in `check`, as it does at the base; see" in said
    assert "This tree **fails** in `check` with the same lines." in said
    assert said.count("norm is 'bogus'") == 1
    other = seen(NOTHING, Trial(BROKEN, replace(BROKEN, lines=["error: another"]), NOTHING, []))
    assert "error: another" in other
