"""The verdicts on the page: the board, the counts, the answer in words and the comparison of records."""

from dataclasses import replace

import pandas as pd
from made_up_results import CLAIM, ROOT, VERDICTS, evidence

from vanishing_variance.claims.paper import CLAIMS
from vanishing_variance.core.yaml import read_yaml
from vanishing_variance.report.answer import answer
from vanishing_variance.report.groups import GROUPS, in_few_words
from vanishing_variance.report.records import Record, table
from vanishing_variance.report.strongest import Evidence, Study
from vanishing_variance.report.verdicts import board, counts, line
from vanishing_variance.study.scale import changed
from vanishing_variance.study.verdict import NOT_TESTED
from vanishing_variance.study.verdict import VERDICTS as KINDS

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


def test_every_claim_of_the_paper_has_a_group_and_words_that_tell_it_from_the_others():
    documents = {claim.key: {"claim": claim.says, "steps": dict.fromkeys(claim.rule.tasks, 1)} for claim in CLAIMS}
    found = [in_few_words(key, document) for key, document in documents.items()]
    assert {group for group, _ in found} == set(GROUPS)
    assert len(set(found)) == len(CLAIMS)


def test_the_answer_has_the_numbers_and_other_words_for_every_verdict():
    of_verdicts = {verdict: {"argmax": Evidence({**CLAIM, "verdict": verdict})} for verdict in KINDS}
    said = {verdict: answer(found)[0] for verdict, found in of_verdicts.items()}
    assert len(set(said.values())) == len(KINDS)
    assert all("(+3.2 pp [+1.0, +5.5]; the paper: +1.8)" in sentence for sentence in said.values())
    causes = {"cause-attention-dictionary": 99.99, "cause-moments-dictionary": 1.08}
    why = answer({key: Evidence({**CLAIM, "ours": ours}) for key, ours in causes.items()})[1]
    assert "(100% of what is lost" in why
    assert "(1%)" in why
    assert "%" not in "".join(answer({}))


def kept(claims, params=PARAMS, away=(1.0, -3.0)):
    """A record of these claims, whose accuracies in Table 1 are so far from the paper's."""
    compared = pd.DataFrame({"table": 1, "difference": away})
    return Record(Study(claims, params), pd.DataFrame(), compared, {}, [])


def test_gains_and_distances_of_records_stand_beside_each_other_and_the_papers():
    weaker = {**CLAIM, "ours": -1.0, "low": -2.0, "high": 0.5, "verdict": "undecided", "n": 32}
    records = {
        "lead": kept({"argmax": CLAIM, "convergence-ln": {**CLAIM, "unit": "%"}, "attribution-argmax": CLAIM}),
        "other": kept({"argmax": weaker}, away=(0.4,)),
        "untested": kept({"argmax": {**CLAIM, "verdict": NOT_TESTED, "ours": None}}),
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
    assert [cell.text for cell in distances[0][1]] == ["2.0", "0.4", "2.0", ""]
    assert [cell.text for cell in distances[1][1]] == ["–", "–", "–", ""]


def test_the_note_below_the_records_names_the_parameters_that_differ_and_no_others():
    scaled, claims = PARAMS["model"]["scaled_logits"], {"argmax": CLAIM}
    changes = {"model.scaled_logits": not scaled, "test.sequences": 1, "training.seeds_per_process": 3}
    lead, other = kept(claims), kept(claims, changed(PARAMS, changes))
    now, then = (str(value).lower() for value in (not scaled, scaled))
    assert table({"lead": lead, "other": other}).note.endswith(f"has model.scaled_logits {now} instead of {then}.")
    assert table({"lead": lead, "other": replace(lead)}).note.endswith("has the same parameters.")
