from dataclasses import replace

from results_review.comment import CUT, LIMIT, MARKER, comment
from results_review.compare import Comparison
from results_review.smoke import Run, Trial
from results_review.stages import Change

NOTHING, COMMIT = Comparison(), "0123456789abcdef"


def table(rows):
    return "\n".join(["| Path | Metric | Change |", "|---|---|---|", *("| a.json | x | 1 |" for _ in range(rows))])


SOME = Comparison(
    parameters=table(1),
    metrics=table(41),
    details=table(3),
    flips=[("|ln| *helps* <img> @someone", "Table 2", "undecided → supported", "0.5 pp → 2.25 pp")],
    figures=["plots/figure3"],
    changes=[
        *(Change(f"train@{n}", "ran", ("`norm`",), {f"runs/{n}": n == "a"}) for n in "ab"),
        Change("ttest", "ran", tuple(f"`src/{n}.py`" for n in range(8)), {"metrics/tests.csv": False}),
        Change("again", "ran", (), {"b": True}),
        Change("evaluate@new", "new", (), {"runs/new": True}),
        Change("old", "gone"),
    ],
)
FINE, BROKEN = Run(2, ""), Run(1, "Running stage 'check':\nerror: ```norm``` is 'bogus'")


def text(found, trial=None, **options):
    return comment(found, "main", COMMIT, trial, **options)


def in_order(said, *parts):
    places = [said.index(part) for part in parts]
    return places == sorted(places)


def test_nothing_changed_is_said_first_after_the_marker():
    lines = [
        MARKER,
        "## No result changes",
        "",
        "Compared with `main` (0123456789ab).",
        "",
        "### Stages",
        "",
        "None ran.",
    ]
    assert text(NOTHING).splitlines() == lines


def test_what_changed_is_counted_and_the_most_important_comes_first():
    said = text(SOME)
    assert said.splitlines()[1] == "## 1 verdict, 41 metrics, 3 other numbers and 1 figure changed; 5 stages ran"
    assert in_order(
        said, "### Parameters", "### Verdicts", "Metrics: 41 rows", "3 numbers", "### Figures", "### Stages"
    )
    assert "`plots/figure3`. `dvc plots diff 0123456789ab` shows both." in said
    assert "\n### Metrics\n\n| Path" in text(replace(SOME, metrics=table(40)))


def test_numbers_that_are_no_metrics_are_changed_results_too():
    assert text(replace(NOTHING, details=table(1))).splitlines()[1] == "## 1 other number changed"


def test_words_of_a_claim_are_no_markup():
    row = r"| \|ln\| \*helps\* &lt;img> @<!-- -->someone | Table 2 | undecided → supported | 0.5 pp → 2.25 pp |"
    assert row in text(SOME)


def test_stages_are_grouped_with_why_they_ran_and_what_came_of_it():
    reasons = ", ".join(f"`src/{n}.py`" for n in range(5))
    for row in (
        "| `train` × 2 | `norm` | 1 of 2 changed |",
        f"| `ttest` | {reasons} and 3 more | 0 of 1 changed |",
        "| `again` | the same inputs | 1 of 1 changed |",
        "| `evaluate@new` | new |  |",
        "| `old` | gone |  |",
        "<summary>3 outputs changed</summary>\n\n- `runs/a`\n- `b`\n- `runs/new`\n",
    ):
        assert row in text(SOME), row


def test_stale_results_are_warned_of_before_all_else():
    stale = [Change(stage, "stale", ("`norm`",)) for stage in ("train@a", "train@b", "figures")]
    said = text(replace(SOME, stale=stale))
    assert said.splitlines()[1].endswith("; 5 stages ran, 3 stages yet to run")
    assert "> **The results are not those of this tree**: run `dvc repro`" in said
    assert "\n> - `train` × 2: `norm`\n> - `figures`: `norm`\n" in said
    assert in_order(said, "[!WARNING]", "### Parameters")
    assert "WARNING" not in text(SOME)


def test_the_smoke_run_tells_what_ran_and_what_was_not_tried():
    said = text(NOTHING, Trial(FINE, Run(1, ""), SOME, ["test.lengths"]))
    assert "## No result changes" in said
    assert "The base: 2 stages ran, none failed.\n\nThis tree: 1 stage ran, none failed." in said
    assert "Not tried, because that scale has its own values: `test.lengths`." in said
    assert "| `train` × 2 | `norm` | 1 of 2 changed |" in said
    for thing in ("1 verdict", "41 metrics", "3 numbers"):
        assert f"<summary>{thing} changed at smoke scale</summary>" in said
    assert "CAUTION" not in said
    assert "Not tried" not in text(NOTHING, Trial(FINE, FINE, NOTHING, []))


def test_a_smoke_run_that_fails_is_told_above_with_its_last_lines_below():
    said = text(NOTHING, Trial(FINE, BROKEN, NOTHING, []))
    assert in_order(said, "> **The smoke run fails**: see", "### At smoke scale")
    assert f"This tree **fails**:\n\n````text\n{BROKEN.failure}\n````" in said
    assert "> **The smoke run fails**, and so does the base's: see" in text(NOTHING, Trial(BROKEN, BROKEN, NOTHING, []))
    assert "CAUTION" not in text(NOTHING, Trial(BROKEN, FINE, NOTHING, []))


def test_what_is_folded_last_is_left_out_first_and_then_the_end_is_cut():
    whole = text(SOME)
    shorter = text(SOME, limit=len(whole) - 10)
    assert "_3 outputs changed: left out" in shorter
    assert "<summary>Metrics: 41 rows</summary>" in shorter
    cut = text(replace(SOME, details="x" * LIMIT, changes=[Change(f"s{n}", "gone") for n in range(9000)]))
    assert len(cut) <= LIMIT
    assert cut.endswith(f"| gone |  |{CUT}")
