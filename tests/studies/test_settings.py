"""The settings of tuned lines as a frame: which gains at one setting are shown."""

import pandas as pd
import pytest

from vanishing_variance.results.columns import rows
from vanishing_variance.results.schema import by_rule
from vanishing_variance.studies.settings import kept_on_steps, labels, settings_of_study
from vanishing_variance.studies.study import Study
from vanishing_variance.studies.tables import _of_lines
from vanishing_variance.studies.tuning import Tried, Tuned

RATE = "training.learning_rate"
SEEDS = (40, 41)
STUDY = Study.model_validate(
    {
        "question": "Why?",
        "tasks": ["argmax"],
        "lines": {"none": {"norm": "none"}, "ln": {"norm": "ln"}},
        "tune": {RATE: [0.1, 0.2, 0.4]},
        "choose": {"blocks": [5]},
    }
)


def results_of(run, accuracy):
    """Return results of a run: so accurate at 32 items."""
    rows = [(seed, length) for seed in SEEDS for length in (16, 32)]
    frame = pd.DataFrame(rows, columns=["seed", "length"]).assign(task="argmax", line=run, note=None)
    return frame.assign(last=[1.0 if length == 16 else accuracy for length in frame["length"]])


def settings_of(failed, results_of_run, losses=None):
    """Return the settings of both lines; `failed`: how many seeds, by line and rate in order; `losses` by line."""
    losses = losses or {line: {"last": -1.0} for line in failed}
    tried, results = {}, []
    for line, of_line in failed.items():
        rates = STUDY.grid(line)[RATE]
        tried[line] = [
            Tried(name=f"{line}-{rate}", setting={RATE: rate}, seeds=2, failed=count, losses=losses[line])
            for rate, count in zip(rates, of_line, strict=True)
        ]
        results += [results_of_run(one.name, line) for one in tried[line]]
    tuned = Tuned(choosing=list(SEEDS), tried={"argmax": tried})
    frame = settings_of_study(by_rule(pd.concat(results)), STUDY, tuned, {"none": 16, "ln": 16}, 512)
    return frame[frame["line"] == "ln"].set_index(RATE)


def test_a_gain_at_a_setting_is_shown_where_no_seed_of_either_line_failed():
    accuracies = {"none": 0.25, "ln": 0.75}
    of_ln = settings_of({"none": (0, 0, 1), "ln": (0, 1, 0)}, lambda run, line: results_of(run, accuracies[line]))
    assert of_ln["difference"][0.1] == pytest.approx(50)
    assert of_ln["difference"][[0.2, 0.4]].isna().all()
    assert of_ln["beyond"].tolist() == pytest.approx([75] * 3)


def test_each_arm_of_a_gain_has_the_weights_of_its_lower_loss():
    def results(run, line):
        return results_of(run, 0.25 if line == "none" else 0.5).assign(averaged=lambda frame: frame["last"] / 2)

    losses = {"none": {"last": -1.0, "averaged": -2.0}, "ln": {"last": -2.0, "averaged": -1.0}}
    of_ln = settings_of({"none": (0, 0, 0), "ln": (0, 0, 0)}, results, losses)
    assert of_ln["difference"].tolist() == pytest.approx([50 - 12.5] * 3)


def test_a_kept_line_whose_steps_are_not_halved_is_said():
    kept = STUDY.model_copy(update={"kept": {"none": {}}, "lines": {"ln": {}}})
    assert kept_on_steps(kept) == []
    (said,) = kept_on_steps(kept.model_copy(update={"choose": STUDY.choose.model_copy(update={"refine": 1})}))
    assert said.startswith("*none* is kept: unlike those of lines that are trained")


def test_keys_that_end_alike_are_named_whole():
    keys = ["norm_options.a", "attention_options.a", RATE]
    assert labels(keys) == {**{key: key for key in keys[:2]}, RATE: "learning_rate"}


def test_lines_that_share_runs_have_each_their_own_seeds_of_what_was_measured():
    tried = {line: [Tried(name="none-0.2", setting={}, seeds=2, failed=0, chosen="last")] for line in ("none", "ln")}
    tuned = Tuned(seeds={"none": [1], "ln": [1, 2]}, tried={"argmax": tried})
    measured = pd.DataFrame({"task": "argmax", "line": ["none-0.2", "none-0.2", "own"], "seed": [1, 2, 3]})
    tested = pd.DataFrame({"task": "argmax", "line": ["none", "ln", "own"], "note": None})
    found = _of_lines(measured, tested, tuned)
    assert found.groupby("line")["seed"].apply(list).to_dict() == {"none": [1], "ln": [1, 2], "own": [3]}


def test_a_gain_at_the_training_lengths_is_none_at_the_longest():
    of_ln = settings_of({"none": (0, 0, 0), "ln": (0, 0, 0)}, lambda run, line: rows(results_of(run, 0.75), length=16))
    assert of_ln[["beyond", "longest", "difference", "difference_longest"]].isna().all(axis=None)


def test_a_setting_of_which_a_block_diverged_has_no_accuracy_and_the_others_keep_their_seeds():
    def results(run, line):
        whole = results_of(run, 0.75).assign(loss_last=0.1)
        diverged = pd.DataFrame([{"task": "argmax", "line": run, "note": "the loss is nan"}])
        return pd.concat([whole[whole["seed"] == SEEDS[0]], diverged]) if run == "ln-0.2" else whole

    of_ln = settings_of({"none": (0, 0, 0), "ln": (0, 1, 0)}, results)
    assert of_ln["beyond"][[0.1, 0.4]].tolist() == pytest.approx([75] * 2)
    assert of_ln["difference"][[0.1, 0.4]].tolist() == pytest.approx([0] * 2)
    assert of_ln.loc[0.2, ["beyond", "difference", "redrawn"]].isna().all()
    assert of_ln["redrawn"].sum() == 100
