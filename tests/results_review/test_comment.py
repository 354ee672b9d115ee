"""What the comment says of stale stages, by the words of `dvc status`, and of verdicts, by two texts of claims.json."""

import json

import pytest

from results_review.commands import ReviewError
from results_review.comment import changed_verdicts, stale_stages

# A clone without DVC's cache.
ABSENT = {"runs/checked": "deleted", "data/argmax": "deleted"}


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ([{"changed deps": ABSENT}, {"changed outs": {"runs/weights": "not in cache"}}], None),
        ([{"changed deps": {**ABSENT, "src/a.py": "modified", "params.yaml": {"norm": "new"}}}], "`norm`, `src/a.py`"),
        ([{"changed deps": ABSENT}, {"changed outs": {"runs/weights": "deleted"}}], "`runs/weights` is deleted"),
        ([{"changed outs": {"metrics/a.json": "modified"}}], "`metrics/a.json` is modified"),
        (["changed command"], "changed command"),
        ([{"changed deps": dict.fromkeys("abcde", "modified")}], "`a`, `b`, `c`, 2 more"),
    ],
)
def test_a_stage_is_stale_by_what_differs_not_by_what_only_the_cache_lacks(changes, said):
    lines = stale_stages({"train@x": changes}).splitlines()[2:]
    assert lines == ([f"- `train@x`: {said}"] if said else [])


def test_stages_of_a_matrix_that_differ_alike_are_one_line():
    status = {"train@x": ["changed command"], "check": ["always changed"], "train@y": ["changed command"]}
    assert stale_stages(status).splitlines()[2:] == [
        "- `train`: changed command (2 stages)",
        "- `check`: always changed",
    ]


def claims(**verdicts):
    """The text of claims.json: key -> (verdict, size)."""
    records = {}
    for key, (verdict, size) in verdicts.items():
        records[key] = {"claim": f"claim {key}", "where": "Table 1", "verdict": verdict, "size": size, "ours": 1.0}
    return json.dumps(records)


def test_only_verdicts_and_sizes_that_differ_are_named():
    before = claims(same=("supported", ""), ln=("undecided", ""), size=("supported", ""), gone=("not tested", ""))
    after = claims(same=("supported", None), ln=("supported", ""), size=("supported", "larger"), new=("undecided", ""))
    assert changed_verdicts(before, after).splitlines() == [
        "- claim ln (Table 1): undecided → supported",
        "- claim size (Table 1): supported → supported, larger",
        "- claim gone (Table 1): not tested → no claim",
        "- claim new (Table 1): no claim → undecided",
    ]


def test_without_claims_on_both_sides_no_verdict_changed():
    after = claims(new=("undecided", ""))
    assert changed_verdicts("", after) == changed_verdicts(after, "") == ""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", " is no valid JSON: "),
        ("[1]", " is a list; must be claims by key"),
        ('{"it": 3}', ": 'it' must have claim, where, verdict"),
        ('{"it": {"claim": "it helps", "where": "Table 1"}}', ": 'it' must have claim, where, verdict"),
    ],
)
def test_damaged_claims_are_named_in_one_line(text, said):
    sound = claims(ln=("supported", ""))
    for side, texts in (("here", (sound, text)), ("at the base", (text, sound))):
        with pytest.raises(ReviewError, match=f"^metrics/claims.json {side}{said}"):
            changed_verdicts(*texts)
