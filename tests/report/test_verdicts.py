"""The verdicts on the page: the board, the counts and the comparison of records."""

import pandas as pd
from checkout import ROOT
from made_up_results import CLAIM, VERDICTS, evidence

from vanishing_variance.claims.verdict import NOT_TESTED
from vanishing_variance.claims.verdict import VERDICTS as KINDS
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.report.records import Record, table
from vanishing_variance.report.strongest import Evidence, Study
from vanishing_variance.report.verdicts import board, counts, line

PARAMS = read_yaml(ROOT / "params.yaml")


def test_every_claim_is_counted_and_in_one_group_of_the_board():
    found = {mark.verdict: count for mark, count in counts(evidence())}
    assert found == {verdict: list(VERDICTS.values()).count(verdict) for verdict in KINDS}
    lines = [(one["key"], one["mark"].verdict) for _, _, lines in board(evidence()) for one in lines]
    assert sorted(lines) == sorted(VERDICTS.items())
    shown = line("gain", Evidence(CLAIM))
    assert (shown["ours"], shown["interval"], shown["paper"], shown["unit"]) == ("+3.2", "[+1.0, +5.5]", "+1.8", "pp")
    nothing = line("gain", Evidence({**CLAIM, **dict.fromkeys(("ours", "low", "high", "paper", "n"))}))
    assert (nothing["ours"], nothing["interval"], nothing["paper"], nothing["unit"]) == ("–", "", "–", "")


def kept(claims, away):
    """A record of these claims, whose accuracies in Table 1 are so far from the paper's."""
    compared = pd.DataFrame({"table": 1, "difference": away})
    return Record(Study(claims, PARAMS), pd.DataFrame(), compared, {}, [])


def test_gains_and_distances_of_records_stand_beside_each_other_and_the_papers():
    weaker = {**CLAIM, "ours": -1.0, "low": -2.0, "high": 0.5, "verdict": "undecided", "n": 32}
    records = {
        "lead": kept({"argmax": CLAIM}, away=[1.0, -3.0]),
        "other": kept({"argmax": weaker}, away=[0.4]),
        "untested": kept({"argmax": {**CLAIM, "verdict": NOT_TESTED, "ours": None}}, away=[]),
    }
    found = table(records)
    assert list(found.head)[:3] == list(records)
    [(_, gains), (_, distances)] = found.groups
    [(_, cells)] = gains
    assert [cell.text for cell in cells] == [
        "+3.2 [+1.0, +5.5], n = 2: supported",
        "−1.0 [−2.0, +0.5], n = 32: undecided",
        "–",
        "+1.8",
    ]
    assert [cell.text for cell in distances[0][1]] == ["2.0", "0.4", "–", ""]
