"""The choice of a line's setting, on toys whose best one is known."""

import math

import numpy as np
import pandas as pd
import pytest
from checkout import ROOT

from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.results.schema import by_rule
from vanishing_variance.studies.choosing import _check_chosen_by, basis_of_choice
from vanishing_variance.studies.ladder import values_between, values_beyond
from vanishing_variance.studies.search import choice_of
from vanishing_variance.studies.settings import _redrawn
from vanishing_variance.studies.study import Study
from vanishing_variance.studies.tuning import Tuned, chosen_of, log_losses, run_name, run_names, with_first

RATE = "training.learning_rate"
CHANCE, SEEDS = 0.1, (40, 41)


def study(rates, choose=None, **changes):
    """Return a study that tunes the rate of two lines."""
    document = {
        "question": "Why?",
        "tasks": ["argmax"],
        "lines": {"none": {"norm": "none"}, "ln": {"norm": "ln"}},
        "tune": {RATE: rates},
        "choose": {"blocks": [5], **(choose or {})},
    }
    return Study.model_validate(document | changes)


def results(loss, accuracy=1.0, **more):
    """Return results of the seeds that choose, tested at the longest training length."""
    rows = [{"task": "argmax", "line": "", "seed": seed, "length": 16, "last": accuracy} for seed in SEEDS]
    return pd.DataFrame(rows).assign(loss_last=loss, **more)


def test_losses_that_are_stored_exactly_are_told_apart_and_one_of_0_is_half_of_the_last_decimal():
    small = [log_losses(by_rule(results(loss))).mean() for loss in (1e-9, 4e-7, 0.0)]
    assert small == pytest.approx(np.log([1e-9, 4e-7, 5e-7]))


def choice_on_argmax(tuned, read, kept=lambda task, name: None, largest=1):
    """Return the choice by what is known; no rate may be larger than `largest`."""
    beyond = [rate for rate in values_beyond(tuned.tune[RATE], tuned.choose.grow) if rate <= largest]
    between = [rate for rate in values_between([*tuned.tune[RATE], *beyond], tuned.choose.refine) if rate <= largest]
    basis = Tuned(
        longest={"short": 16}, chance={"argmax": {16: CHANCE}}, beyond={RATE: beyond}, between={RATE: between}
    )
    return choice_of(tuned, basis, read, kept)["argmax"]


def settled(tuned, optimum, fails=lambda rate: False, kept=lambda task, name: None, largest=1):
    """Choose until nothing is to be tried; return the choice on argmax, and how many rounds it took.

    `optimum`: of each line the rate with the lowest loss, which is a parabola of the rate's logarithm.
    """
    trained = {}
    for round_ in range(20):
        choice = choice_on_argmax(tuned, lambda _, name: trained.get(name), kept, largest)
        missing = [(line, one) for line, tried in choice.items() for one in tried if not one.seeds]
        if not missing:
            return choice, round_
        for line, one in missing:
            rate = one.setting.get(RATE, 1)
            loss = math.exp(math.log2(rate / optimum[line]) ** 2 - 5)
            trained[one.name] = results(loss, CHANCE if fails(rate) else 1.0)
    raise AssertionError("it never ends")


def rates_of(tried):
    return sorted(one.setting[RATE] for one in tried)


def best(tried):
    return chosen_of(tried).setting[RATE]


def test_the_lowest_loss_is_chosen_of_each_line():
    choice, rounds = settled(study([0.001, 0.002, 0.004, 0.008]), {"none": 0.0021, "ln": 0.0039})
    assert (best(choice["none"]), best(choice["ln"]), rounds) == (0.002, 0.004, 1)
    assert rates_of(choice["none"]) == rates_of(choice["ln"]) == [0.001, 0.002, 0.004, 0.008]


@pytest.mark.parametrize(
    ("optimum", "expected"), [(0.0005, [0.00025, 0.0005, 0.001, 0.002]), (0.004, [0.001, 0.002, 0.004, 0.008])]
)
def test_a_grid_grows_from_either_end_for_both_lines_until_the_best_is_within(optimum, expected):
    choice, _ = settled(study([0.001, 0.002], {"grow": 3}), {"none": optimum, "ln": (0.001 * 0.002) ** 0.5})
    assert best(choice["none"]) == optimum
    assert rates_of(choice["none"]) == rates_of(choice["ln"])
    assert set(expected) <= set(rates_of(choice["ln"]))


def test_a_grid_grows_no_further_than_it_may():
    choice, _ = settled(study([0.001, 0.002], {"grow": 1}), {"none": 0.1, "ln": 0.1})
    assert rates_of(choice["none"]) == [0.001, 0.002, 0.004]
    assert best(choice["none"]) == 0.004
    choice, _ = settled(study([0.001, 0.002], {"grow": 3}), {"none": 0.1, "ln": 0.1}, largest=0.005)
    assert rates_of(choice["none"]) == [0.001, 0.002, 0.004]


def test_a_grid_grows_in_steps_of_its_ends():
    assert values_beyond([0.001, 0.002, 0.008], 2) == [0.0005, 0.00025, 0.032, 0.128]
    assert values_beyond([1, 2], 2) == [4, 8]


def test_a_step_is_halved_around_each_best():
    choice, _ = settled(study([0.001, 0.002, 0.004], {"refine": 2}), {"none": 0.00168, "ln": 0.0024})
    assert best(choice["none"]) == 0.00168
    assert best(choice["ln"]) == 0.00238
    assert rates_of(choice["none"]) == [0.001, 0.00141, 0.00168, 0.002, 0.00238, 0.00283, 0.004]


def test_a_step_is_not_halved_where_a_key_may_not_have_the_middle():
    choice, _ = settled(study([0.001, 0.002, 0.004], {"refine": 1}), {"none": 0.002, "ln": 0.002}, largest=0.0025)
    assert rates_of(choice["none"]) == [0.001, 0.00141, 0.002, 0.004]
    assert values_between([1, 2, 4], 2) == [3]
    assert values_between([1.0, 16.0], 2) == [2.0, 4.0, 8.0]


def test_a_setting_in_which_a_seed_failed_is_out_and_its_neighbour_is_no_end():
    tuned = study([0.001, 0.002, 0.004], {"grow": 4})
    choice, _ = settled(tuned, {"none": 0.004, "ln": 0.002}, fails=lambda rate: rate > 0.003)
    assert best(choice["none"]) == 0.002
    assert rates_of(choice["none"]) == [0.001, 0.002, 0.004]
    assert [one.failed for one in choice["none"]] == [0, 0, 2]


def test_where_all_settings_fail_none_is_chosen():
    choice, _ = settled(study([0.001, 0.002]), {"none": 0.001, "ln": 0.001}, fails=lambda rate: True)
    assert chosen_of(choice["none"]) is None
    assert {one.failed for one in choice["ln"]} == {2}


def test_of_equal_losses_the_first_is_chosen():
    tuned = study([0.001, 0.002, 0.004], {"grow": 0})
    choice, _ = settled(tuned, {"none": 0.002 * 2**0.5, "ln": 0.001})
    assert [one.losses["last"] for one in choice["none"][1:]] == pytest.approx([-4.75, -4.75])
    assert best(choice["none"]) == 0.002


def test_of_two_blocks_that_choose_one_that_diverged_takes_no_seed_from_other_settings():
    of = study([0.001, 0.002, 0.004, 0.008], {"grow": 0}, lines={"none": {"norm": "none"}})
    diverged = pd.DataFrame([{"task": "argmax", "line": "", "note": "the loss is nan", "seed": None, "length": None}])
    read = {
        "none-0_001": results([0.1, 0.5]),  # the worse, but for the first seed
        "none-0_002": results([0.11, 0.01]),
        "none-0_004": pd.concat([results(0.001)[:1], diverged]),
        "none-0_008": pd.concat([results(0.001)[1:], diverged]),
    }
    choice = choice_on_argmax(of, lambda _, name: read[name])
    assert [(one.seeds, one.failed, one.chosen) for one in choice["none"]] == [
        (2, 0, ""),
        (2, 0, "last"),
        (2, 2, ""),
        (2, 2, ""),
    ]


@pytest.mark.parametrize("loss", [math.nan, math.inf])
def test_a_seed_without_a_finite_loss_failed(loss):
    of = study([0.001, 0.002], {"grow": 0})
    read = dict.fromkeys(("none-0_001", "ln-0_001", "ln-0_002"), results(0.1)) | {"none-0_002": results([0.01, loss])}
    choice = choice_on_argmax(of, lambda _, name: read[name])
    assert [(one.failed, one.chosen) for one in choice["none"]] == [(0, "last"), (1, "")]


def test_a_line_is_tuned_in_the_keys_that_it_has_not_itself():
    lines = {"none": {"norm": "none"}, "ln": {"norm": "ln", RATE: 0.002}}
    tuned = study([0.001, 0.002], {"grow": 0}, lines=lines)
    choice, _ = settled(tuned, {"none": 0.001})
    assert list(choice) == ["none"]
    schedules = study([0.001, 0.002], lines=lines, tune={RATE: [0.001, 0.002], "training.decay": ["none", "cosine"]})
    names = [one.name for one in settled(schedules, {"none": 0.001, "ln": 1})[0]["ln"]]
    assert names == ["ln-none", "ln-cosine"]


def test_the_weights_with_the_lower_loss_are_chosen_and_trained_once():
    tuned = study([0.001, 0.002], {"grow": 0}, tune={RATE: [0.001, 0.002], "weights": ["last", "averaged"]})
    read = {name: results(0.1, averaged=1.0, loss_averaged=0.2) for name in ("none-0_001", "ln-0_001", "ln-0_002")}
    read["none-0_002"] = results(0.2, averaged=1.0, loss_averaged=0.05)
    choice = choice_on_argmax(tuned, lambda _, name: read[name])
    assert [one.chosen for one in choice["none"]] == ["", "averaged"]
    assert [one.chosen for one in choice["ln"]] == ["last", ""]


def test_a_kept_setting_is_at_length_where_it_was_tested_there_or_is_the_chosen_one():
    of = study([0.1, 0.2], {"grow": 0}, lines={}, kept={"none": {"norm": "none"}}, sequences=4)
    losses = {"none-0_1": 0.1, "none-0_2": 0.2}
    choice = choice_on_argmax(of, lambda *_: None, lambda _, name: results(losses[name]))
    assert [one.at_length for one in choice["none"]] == [True, False]


def test_chance_is_that_of_each_longest_training_length():
    of = study([0.1], lines={"none": {"norm": "none"}, "long": {"norm": "none", "range": "long"}})
    assert basis_of_choice(of, read_yaml(ROOT / "params.yaml")).chance["argmax"].keys() == {16, 256}


def test_a_choice_says_how_often_other_seeds_would_make_it():
    of = study([0.001, 0.002, 0.004], {"grow": 0}, lines={"none": {"norm": "none"}})
    losses = {"none-0_001": [1.0, math.e**2], "none-0_002": [math.e**1.5] * 2, "none-0_004": [0.01] * 2}
    read = {name: results(loss, 1.0 - (name == "none-0_004")) for name, loss in losses.items()}
    tuned = Tuned(choosing=list(SEEDS), tried={"argmax": choice_on_argmax(of, lambda _, name: read[name])})
    tested = by_rule(pd.concat(frame.assign(line=name) for name, frame in read.items()))
    shares = _redrawn(tested, of, tuned, "argmax", "none")
    assert shares == pytest.approx(
        {"none-0_001": 75, "none-0_002": 25}, abs=2
    )  # one of four draws has the second alone
    assert _redrawn(tested, of, tuned, "argmax", "none") == shares


def test_settings_beside_the_best_one_of_a_line_are_tested_at_length():
    tuned = study([0.0005, 0.001, 0.002, 0.004], {"grow": 0})
    choice, _ = settled(tuned, {"none": 0.0005, "ln": 0.002})
    assert [one.at_length for one in choice["none"]] == [True, True, False, False]
    assert [one.at_length for one in choice["ln"]] == [False, True, True, True]


def test_kept_settings_are_those_that_have_results():
    tuned = study([0.001, 0.002, 0.004], {"grow": 2}, lines={}, kept={"none": {}, "ln": {"norm": "ln"}}, sequences=8)
    kept = {"none-0_001": results(0.1), "none-0_002": results(0.2), "ln-0_004": results(0.3)}
    choice, rounds = settled(tuned, {}, kept=lambda _, name: kept.get(name))
    assert rounds == 0
    assert [one.name for one in choice["none"]] == ["none-0_001", "none-0_002"]
    assert (best(choice["none"]), best(choice["ln"])) == (0.001, 0.004)


def test_a_kept_line_whose_best_lies_at_an_end_makes_no_grid_grow():
    tuned = study([0.001, 0.002, 0.004], lines={"ln": {"norm": "ln"}}, kept={"none": {}}, sequences=8)
    kept = {f"none-{text}": results(loss) for text, loss in (("0_001", 0.3), ("0_002", 0.2), ("0_004", 0.1))}
    choice, _ = settled(tuned, {"ln": 0.002}, kept=lambda _, name: kept.get(name))
    assert (best(choice["none"]), best(choice["ln"])) == (0.004, 0.002)
    assert rates_of(choice["ln"]) == [0.001, 0.002, 0.004]
    at_end, _ = settled(tuned, {"ln": 0.008}, kept=lambda _, name: kept.get(name))
    assert rates_of(at_end["ln"]) == [0.001, 0.002, 0.004, 0.008]


def test_a_kept_line_has_settings_by_which_the_grid_of_another_grows_only_where_its_best_is_at_the_end():
    rates = [0.001, 0.002, 0.004]
    tuned = study(rates, {"grow": 2}, lines={"ln": {"norm": "ln"}}, kept={"none": {}}, sequences=8)
    kept = {f"none-{text}": results(loss) for text, loss in (("0_004", 0.3), ("0_008", 0.1), ("0_016", 0.2))}
    assert {*kept} < {*run_names(tuned, "none")}
    within, _ = settled(tuned, {"ln": 0.002}, kept=lambda _, name: kept.get(name))
    at_end, _ = settled(tuned, {"ln": 0.004}, kept=lambda _, name: kept.get(name))
    assert best(within["none"]) == best(at_end["none"]) == 0.008
    assert (rates_of(within["ln"]), rates_of(at_end["ln"])) == (rates, [*rates, 0.008])


def test_kept_settings_have_a_seed_that_chooses_in_common():
    of = study([0.001, 0.002], lines={}, kept={"ln": {"norm": "ln"}}, sequences=8)
    kept = {"ln-0_001": results(0.1)[:1], "ln-0_002": results(0.1)[1:]}
    with pytest.raises(InputError, match=r"settings of ln on argmax have no seed of choose\.blocks in common"):
        settled(of, {}, kept=lambda _, name: kept.get(name))


@pytest.mark.parametrize("rates", [[0.001, 0.002], [0.0005, 0.001]])
def test_runs_of_another_line_are_not_taken_for_those_of_a_setting(rates):
    lines = {"ln": {"norm": "ln"}, "ln-0_002": {"norm": "none", RATE: 0.5}}
    with pytest.raises(InputError, match=r"runs of line ln at 0\.002 are ln-0_002, as others are, .*; rename a line"):
        settled(study(rates, lines=lines), {"ln": 0.004})


def test_before_anything_is_trained_a_first_setting_stands_for_the_chosen_one():
    tuned = study([0.001, 0.002])
    choice = choice_on_argmax(tuned, lambda *_: None)
    assert chosen_of(choice["ln"]) is None
    first = chosen_of(with_first({"argmax": choice})["argmax"]["ln"])
    assert first.name == run_name(tuned, "ln", {RATE: 0.001}) == "ln-0_001"


def test_a_kept_line_is_chosen_by_as_many_seeds_as_one_that_is_trained():
    document = {"lines": {"own": {"norm": "ln"}}, "kept": {"none": {"norm": "none"}}, "choose": {"blocks": [5, 6]}}
    study = Study.model_validate({"question": "?", "tasks": ["argmax"], "tune": {RATE: [0.1]}, **document})
    run = run_names(study, "none")[0]
    kept = pd.DataFrame({"task": "argmax", "line": run, "seed": [10, 11], "length": 16})
    with pytest.raises(
        InputError, match=r"lacks 2 of the seeds of choose.blocks, 12 the first, of line none on argmax"
    ):
        _check_chosen_by("mine", study, kept, kept, [10, 11, 12, 13])
    _check_chosen_by("mine", study, kept, kept, [10, 11])
