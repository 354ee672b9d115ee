import pytest
from made_up_results import CLAIM, all_of

from vanishing_variance.report.answer import answer
from vanishing_variance.report.strongest import Evidence

NOT_COMPARABLE = "not comparable"


def test_the_size_of_a_gain_is_said_where_it_is_judged():
    sized = {**CLAIM, "verdict": "supported", "size": "larger than the paper's"}
    assert "(+3.2 pp [+1.0, +5.5], larger than the paper's +1.8) and" in answer({"argmax": Evidence(sized)})[0]
    lost = {**sized, "paper": None}
    assert "(+3.2 pp [+1.0, +5.5], larger than the paper's) and" in answer({"argmax": Evidence(lost)})[0]


def evidence(**verdicts):
    """Claims by key, with `_` for `-`: a verdict, or a verdict and our number."""
    claims = {}
    for key, said in verdicts.items():
        verdict, ours = said if isinstance(said, tuple) else (said, 3.25)
        claims[key.replace("_", "-")] = Evidence({**CLAIM, "verdict": verdict, "ours": ours})
    return claims


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        ("supported", "it raises accuracy on argmax (+3.2 pp [+1.0, +5.5]; the paper: +1.8) and"),
        ("contradicted", "it lowers accuracy on argmax (+3.2"),
        ("undecided", "it shows no consistent gain on argmax (+3.2"),
        (NOT_COMPARABLE, "it cannot be judged yet on argmax, whose models are behind the paper’s (+3.2"),
        (("not tested", None), "it was not tested on argmax and"),
    ],
)
def test_the_gain_is_worded_by_its_verdict(verdict, said):
    assert said in answer(evidence(argmax=verdict))[0]


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        ("supported", "Variance does vanish with length; "),
        ("contradicted", "Variance does not vanish with length; "),
        ("undecided", "Whether variance vanishes with length is open; "),
        ("not tested", "Whether variance vanishes with length is open; "),
    ],
)
def test_variance_is_worded_by_its_verdict(verdict, said):
    assert answer(evidence(vanishing=verdict))[1].startswith(said)


def test_a_cause_is_worded_by_its_verdict_and_what_is_decided_stands_first():
    found = evidence(
        cause_moments_argmax=NOT_COMPARABLE,
        cause_attention_argmax=NOT_COMPARABLE,
        cause_moments_dictionary=("contradicted", 1.08),
        cause_attention_dictionary=("supported", 99.99),
    )
    assert answer(found)[1].endswith(
        "; on dictionary, falling attention on the answer’s item is what costs accuracy (100% of what is lost, "
        "averaged over lengths), the outputs’ shifted mean and variance are not (1%); on argmax the cause is open."
    )
    found["cause-moments-dictionary"] = Evidence({**CLAIM, "verdict": "undecided", "ours": None})
    assert (
        "(100% of what is lost, averaged over lengths), the outputs’ shifted mean and variance may be; on argmax"
        in answer(found)[1]
    )


def test_tasks_with_the_same_verdicts_share_a_clause():
    said = answer(all_of("supported"))[1]
    assert (
        "on argmax and dictionary, falling attention on the answer’s item is what costs accuracy (3% and 3% "
        "of what is lost, averaged over lengths)," in said
    )


def test_claims_that_are_missing_count_as_not_tested():
    assert answer({}) == (
        "Beyond the training lengths, it was not tested on argmax and was not tested on dictionary.",
        "Whether variance vanishes with length is open; on argmax and dictionary the cause is open.",
    )
