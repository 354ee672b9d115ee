import copy

import pandas as pd
import pytest
import yaml

from vanishing_variance.core.errors import InputError
from vanishing_variance.core.paths import Run
from vanishing_variance.record.pieces import (
    Goal,
    check_parameters,
    is_recorded,
    merged,
    parameters,
    plan,
    with_piece,
)

GOALS = (Goal("short", ("argmax", "dictionary"), 4), Goal("long", ("dictionary",), 2), Goal("short", ("argmax",), 5))


def test_pieces_come_in_order_of_worth_each_once_with_all_that_it_is_compared_with():
    groups = [[str(run) for run in group] for group in plan("ln", [0, 1, 2], 2, GOALS)]
    assert groups[0] == ["argmax-short-none-0", "argmax-short-std-0", "argmax-short-ln-0"]
    assert [group[0] for group in groups] == [
        *("argmax-short-none-0", "dictionary-short-none-0", "argmax-short-none-1", "dictionary-short-none-1"),
        "dictionary-long-none-0",
        "argmax-short-none-2",
    ]
    assert groups[4] == ["dictionary-long-none-0", "dictionary-long-ln-0"]


def test_a_block_beyond_all_goals_is_refused():
    with pytest.raises(InputError, match=r"^blocks: 3 begins at seed 6; must begin below 5$"):
        list(plan("ln", [0, 3], 2, GOALS))


def test_blocks_that_are_not_asked_for_are_another_machines():
    ours, theirs = ({str(run) for group in plan("rms", [block], 2, GOALS) for run in group} for block in (0, 1))
    assert not ours & theirs
    assert ours | theirs == {str(run) for group in plan("rms", [0, 1], 2, GOALS) for run in group}
    assert "argmax-short-rms-0" in ours


@pytest.fixture
def params(small_parameters):
    return yaml.safe_load(small_parameters.read_text())


@pytest.fixture
def small_parameters(request):
    return request.config.rootpath / "tests/smoke.yaml"


def test_what_decides_a_models_numbers_is_compared_and_nothing_else(params):
    ours = parameters(params, "argmax", "short")
    for key in ("blocks", "seeds_per_block", "norm", "figures", "proposition", "probe"):
        assert parameters(params | {key: "another"}, "argmax", "short") == ours
    for section, key in (("training", "seeds_per_process"), ("diagnostics", "heatmap_sequences")):
        assert parameters(params | {section: params[section] | {key: 99}}, "argmax", "short") == ours
    for key in ("test.sequences", "model.width", "training.learning_rate", "tasks.argmax.steps.short", "seed"):
        other = copy.deepcopy(params)
        *sections, last = key.split(".")
        inner = other
        for name in sections:
            inner = inner[name]
        inner[last] = 99
        with pytest.raises(InputError, match=rf"^here: {key} is 99; must be "):
            check_parameters(parameters(other, "argmax", "short"), ours, "here")
        if key.startswith("tasks.argmax"):
            assert parameters(other, "dictionary", "short") == parameters(params, "dictionary", "short")
    check_parameters(ours, parameters(params, "argmax", "short"), "here")


def test_the_steps_of_another_range_are_not_compared(params):
    other = copy.deepcopy(params)
    other["tasks"]["argmax"]["steps"]["long"] = 77
    assert parameters(other, "argmax", "short") == parameters(params, "argmax", "short")
    with pytest.raises(InputError, match=r"^here: tasks\.argmax\.steps\.long is 77; must be "):
        check_parameters(parameters(other, "argmax", "long"), parameters(params, "argmax", "long"), "here")


def rows(*models, lengths=(16, 64)):
    cells = [(*model, "plain", length, 0.5) for model in models for length in lengths]
    return pd.DataFrame(cells, columns=["task", "range", "norm", "seed", "temperature", "length", "accuracy"])


def test_pieces_make_the_same_record_in_any_order():
    one, other = rows(("argmax", "short", "ln", 2)), rows(("argmax", "short", "ln", 0), ("argmax", "short", "ln", 1))
    empty = pd.DataFrame()
    both = merged(merged(empty, one), other)
    pd.testing.assert_frame_equal(both, merged(merged(empty, other), one))
    assert both["seed"].tolist() == [0, 0, 1, 1, 2, 2]


def test_a_piece_is_recorded_where_all_its_numbers_are():
    record = rows(*(("argmax", "short", "ln", seed) for seed in (0, 1, 2)))
    piece = rows(("argmax", "short", "ln", 2), ("argmax", "short", "ln", 1))
    assert is_recorded(record, piece, "here")
    assert not is_recorded(pd.DataFrame(), piece, "here")
    for norm, seed in (("ln", 3), ("std", 1)):
        assert not is_recorded(record, rows(("argmax", "short", norm, seed)), "here")
    said = r"^here: task argmax, range short, norm ln, seed 2 is in the record already, with other numbers$"
    with pytest.raises(InputError, match=said):
        is_recorded(record, rows(("argmax", "short", "ln", 2), ("argmax", "short", "ln", 3)), "here")
    with pytest.raises(InputError, match=said.replace("2", "1")):
        is_recorded(record, piece.assign(accuracy=0.25), "here")


def test_what_pieces_were_computed_on_is_listed():
    versions = {"python": "3.11", "torch": "2.13", "numpy": "2.4"}
    one = {"task": "argmax", "range": "short", "norm": "ln", "seeds": [8, 9], "versions": versions}
    one |= {"device": "some CPU", "cores": 2, "revision": "abc", "minutes": None, "parameters": {}}
    found = with_piece(with_piece(pd.DataFrame(), one), one | {"seeds": [0, 1], "minutes": 1.5})
    assert found["first_seed"].tolist() == [0, 8]
    assert found["last_seed"].tolist() == [1, 9]
    assert found["minutes"].iloc[0] == 1.5
    assert found["minutes"].isna().iloc[1]
    assert found["device"].unique().tolist() == ["some CPU"]


def test_runs_are_named_as_dvc_names_their_stages():
    assert str(Run("argmax", "long", "ln", 3)) == "argmax-long-ln-3"
