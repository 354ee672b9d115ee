import json

from made_up import BY_KEY, RECORDED, accuracy, evidence, longest_trained, mechanism, shifted, steps, verdict

from vanishing_variance.claims.criteria import CRITERIA
from vanishing_variance.claims.judgement import OF_TRAINING, STATISTICS, counts, judge
from vanishing_variance.claims.paper import CLAIMS, ONE_SEED
from vanishing_variance.claims.verdict import CONTRADICTED, NOT_COMPARABLE, NOT_TESTED, SUPPORTED, WORDS

KEYS = "argmax", "dictionary", "argmax-long", "dictionary-long", "features-dictionary", "ln-std-alike", "vanishing"
SOME = [BY_KEY[key] for key in KEYS]
LONG = {"argmax-long", "dictionary-long"}
SHORT = {
    "argmax": {"argmax", "argmax-adaptive", "argmax-orthogonal", "std", "ln-std", "ln-std-alike"},
    "dictionary": {"dictionary", "dictionary-adaptive", "dictionary-orthogonal", "std-dictionary", "ln-std-alike"},
}


INSIDE = [claim.key for claim in CLAIMS if claim.statistic in STATISTICS["mechanism"]]


def having(verdict, claims, **changes):
    """The keys of those claims that have a verdict."""
    return {key for key, claim in judge(claims, evidence(**changes)).items() if claim["verdict"] == verdict}


def test_every_name_of_the_table_has_a_function_and_words_and_each_is_of_a_claim():
    statistics = {name for named in STATISTICS.values() for name in named}
    assert statistics == WORDS["statistics"].keys() == {claim.statistic for claim in CLAIMS}
    assert CRITERIA.keys() == WORDS["criteria"].keys() == {claim.criterion for claim in CLAIMS}
    assert WORDS["columns"].keys() == {claim.column for claim in CLAIMS} - {""}


def test_where_everything_is_as_the_paper_says_every_claim_is_supported():
    document = judge(CLAIMS, evidence())
    assert {key for key, claim in document.items() if claim["verdict"] != SUPPORTED} == {"capacity"}
    assert len(document) == len(CLAIMS) == 46
    assert (counts(document)["supported"], counts(document)["not_tested"]) == (45, 1)
    assert document["ln-std-alike"]["steps"] == {"argmax": 100_000, "dictionary": 10_000}
    assert document["pretrained"]["steps"] == {}
    assert "nan" not in json.dumps(document).lower()


def test_what_was_not_trained_or_tested_beyond_training_is_not_tested():
    short = {"accuracy": accuracy().query("line in ('none', 'std', 'ln')"), "longest": longest_trained(short=16)}
    short["steps"] = {names: made for names, made in steps().items() if names[1] in short["longest"]}
    assert having(NOT_TESTED, SOME, **short) == LONG
    found = verdict("argmax-long", **short)
    assert (found["evidence"], found["steps"]) == ("argmax was not trained on the long range with ln and none", {})
    found = verdict("argmax-long", **short, diverged={("argmax", "long-ln")})
    assert found["evidence"].startswith(
        "a training of argmax on the long range with ln diverged, or its test had too l"
    )
    last = {"accuracy": accuracy().query("rule == 'last'")}
    said = "no seed of argmax with ln and none alike was tested beyond the 16 of training by the rule adaptive"
    adaptive = {f"{task}-{name}" for task in SHORT for name in ("adaptive", "orthogonal")}
    assert having(NOT_TESTED, RECORDED, **last) == adaptive
    assert verdict("argmax-adaptive", **last)["evidence"] == said
    near = {"accuracy": accuracy().query("length <= 64"), "mechanism": mechanism().query("length == 16")}
    near |= {"longest": longest_trained(short=16, long=64)}
    assert having(NOT_TESTED, RECORDED, **near) == {*INSIDE} | LONG
    without = having(NOT_TESTED, RECORDED, accuracy=accuracy().query("line not in ('ln', 'long-ln')"))
    assert without == (SHORT["argmax"] | SHORT["dictionary"] | LONG) - {"std", "std-dictionary"}


def test_without_none_the_others_are_compared_with_each_other():
    lines = ("std", "ln")
    pair = {"accuracy": accuracy().query("line in @lines"), "mechanism": mechanism().query("line in @lines")}
    pair |= {"longest": dict.fromkeys(lines, 16), "steps": {of: made for of, made in steps().items() if of[1] in lines}}
    of_ln = {f"{key}-{task}" for key in ("features-ln", "shift-left") for task in SHORT}
    assert having(SUPPORTED, RECORDED, **pair) == {"ln-std", "ln-std-alike"} | of_ln
    assert verdict("ln-std", **pair)["steps"] == {"argmax": 100_000}


def test_fewer_steps_than_the_papers_compare_nothing_whichever_way_it_points():
    few, behind = steps(argmax=99_999), shifted("argmax", "ln", -20)
    of_argmax = SHORT["argmax"] | {"argmax-long"} | {key for key in INSIDE if key.endswith("argmax")}
    assert having(NOT_COMPARABLE, RECORDED, accuracy=behind, steps=few) == of_argmax
    found, same = verdict("argmax", accuracy=behind, steps=few), verdict("argmax", accuracy=behind)
    assert same["verdict"] == CONTRADICTED
    assert found["evidence"].startswith("99,999 of 100,000 steps, baseline 99.8% at 2^4 (the paper's 99.6%); ")
    assert [found[name] for name in ("ours", "low", "high")] == [same[name] for name in ("ours", "low", "high")]
    assert verdict("argmax", steps=steps(argmax=100_001))["verdict"] == SUPPORTED
    few = steps(4_000, 4_000, ranges=["long"])  # of the other range
    assert having(NOT_COMPARABLE, SOME, steps=few) == LONG
    assert verdict("argmax-long", steps=few)["steps"] == {"argmax": 4_000}


def test_a_baseline_half_a_point_below_the_papers_compares_nothing_however_long_it_was_trained():
    """Table 2 has 99.3% at 2^4."""
    for below, expected in ((-0.6, set()), (0.45, set()), (0.6, {"dictionary", "features-dictionary", "ln-std-alike"})):
        frame = accuracy()
        none = frame["line"].isin(["none", "long-none"]) & (frame["length"] == 16)
        frame.loc[none, "accuracy"] = 0.998
        frame.loc[none & (frame["task"] == "dictionary"), "accuracy"] = 0.993 - below / 100
        assert having(NOT_COMPARABLE, SOME, accuracy=frame) == expected


def test_of_one_seed_no_claim_about_training_is_tested():
    of_seed = {
        name: getattr(evidence(), name).query("seed == 0")
        for name in ("accuracy", "mechanism", "interventions", "losses")
    }
    judged = judge(CLAIMS, evidence(**of_seed))
    trained = {claim.key for claim in CLAIMS if claim.statistic in OF_TRAINING or claim.key.startswith("convergence")}
    assert {(judged[key]["verdict"], judged[key]["evidence"]) for key in trained} == {(NOT_TESTED, ONE_SEED)}
    assert "nan" not in json.dumps(judged).lower()
