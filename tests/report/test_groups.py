from made_up_results import CLAIM

from vanishing_variance.claims.paper import CLAIMS
from vanishing_variance.report.groups import GROUPS, HEADINGS, in_few_words


def test_every_claim_of_the_paper_has_a_group_and_words_that_tell_it_from_the_others():
    steps = {claim.key: dict.fromkeys(claim.rule.tasks, 1) for claim in CLAIMS}
    found = [in_few_words(claim.key, {"claim": claim.says, "steps": steps[claim.key]}) for claim in CLAIMS]
    assert {group for group, _ in found} == set(GROUPS) == set(HEADINGS) - {"other"}
    assert len(set(found)) == len(CLAIMS)
    assert max(len(words) for _, words in found) <= 56


def test_every_entry_is_of_a_claim():
    keys = {"-".join(part for part in claim.key.split("-") if part not in ("argmax", "dictionary")) for claim in CLAIMS}
    assert {name for words in GROUPS.values() for name in words} == keys


def test_a_claim_that_is_not_listed_stands_in_full():
    assert in_few_words("own-claim", CLAIM) == ("other", CLAIM["claim"])
