"""What the comment tells, whatever the words: counts, warnings, reasons, and nothing of others that is markup."""

import re
from dataclasses import replace

from results_review.comment import MARKER, comment
from results_review.compare import Comparison
from results_review.smoke import Run, Trial
from results_review.stages import Change

COMMIT = "0123456789abcdef"


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
        Change("old", "gone"),
    ],
)
STALE = [Change(stage, "stale", ("`norm`",)) for stage in ("train@a", "train@b", "figures")]
FINE, BROKEN = Run(2, ""), Run(1, "Running stage 'check':\nerror: ```norm``` is 'bogus'")


def text(found, trial=None):
    return comment(found, "main", COMMIT, trial)


def test_what_changed_is_counted_and_stages_are_grouped_with_why_they_ran_and_what_came_of_it():
    lines = text(SOME).splitlines()
    assert lines[0] == MARKER
    assert re.findall(r"\d+ \w+", lines[1]) == ["1 verdict", "41 metrics", "3 other", "1 figure", "3 stages"]
    reasons = ", ".join(f"`src/{n}.py`" for n in range(5))
    rows = {f"| `ttest` | {reasons} and 3 more | 0 of 1 changed |", "| `old` | gone |  |", "- `runs/a`"}
    assert rows | {"| `train` × 2 | `norm` | 1 of 2 changed |"} <= {*lines}
    assert "No result changes" in text(Comparison())


def test_stale_results_and_a_smoke_run_that_fails_are_warned_of_before_all_else():
    said = text(replace(SOME, stale=STALE), Trial(FINE, BROKEN, SOME, ["test.lengths"]))
    assert said.index("[!WARNING]") < said.index("[!CAUTION]") < said.index("### Parameters")
    assert "\n> - `train` × 2: `norm`\n> - `figures`: `norm`\n" in said
    assert f"\n````text\n{BROKEN.failure}\n````" in said  # a fence that is longer than those within
    assert "`test.lengths`" in said
    assert "[!" not in text(SOME, Trial(BROKEN, FINE, SOME, []))


def test_words_of_a_claim_are_no_markup():
    assert r"| \|ln\| \*helps\* &lt;img> @<!-- -->someone | Table 2 | undecided → supported |" in text(SOME)
