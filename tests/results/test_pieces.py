import copy

import pytest
from made_up_pieces import PARAMS

from vanishing_variance.harness.errors import InputError
from vanishing_variance.results.records.pieces import Goal, check_parameters, parameters, plan

GOALS = (Goal("short", ("argmax", "dictionary"), 4), Goal("long", ("dictionary",), 2), Goal("short", ("argmax",), 5))


def planned(norm, blocks, ranges=("short", "long")):
    groups = plan(norm, blocks, 2, ranges, GOALS)
    return [[f"{run.task}-{run.range}-{run.norm}-{run.block}" for run in group] for group in groups]


def test_pieces_come_in_order_of_worth_each_once_with_all_that_it_is_compared_with():
    groups = planned("ln", [0, 1, 2])
    assert groups[0] == ["argmax-short-none-0", "argmax-short-std-0", "argmax-short-ln-0"]
    assert [group[0] for group in groups] == [
        *("argmax-short-none-0", "dictionary-short-none-0", "argmax-short-none-1", "dictionary-short-none-1"),
        "dictionary-long-none-0",
        "argmax-short-none-2",
    ]
    assert groups[4] == ["dictionary-long-none-0", "dictionary-long-ln-0"]
    assert planned("ln", [0, 1, 2], ("short",)) == groups[:4] + groups[5:]
    assert sorted(planned("rms", [0]) + planned("rms", [1])) == sorted(planned("rms", [0, 1]))
    with pytest.raises(InputError, match=r"^blocks: 3 begins at seed 6; must begin below 5$"):
        planned("ln", [0, 3])


@pytest.mark.parametrize(
    ("key", "compared"),
    [
        *((key, True) for key in ("test.sequences", "model.width", "tasks.argmax.steps.short", "seed", "attention")),
        *((key, False) for key in ("blocks", "norm", "training.seeds_per_process", "diagnostics.heatmap_sequences")),
        *((key, False) for key in ("tasks.argmax.steps.long", "tasks.dictionary.steps.short", "train_also_on")),
        ("training.averaged_part", True),
        ("training.kept_steps", False),
    ],
)
def test_what_decides_a_models_numbers_is_compared_and_nothing_else(key, compared):
    params = copy.deepcopy(PARAMS)
    *sections, last = key.split(".")
    inner = params
    for name in sections:
        inner = inner[name]
    inner[last] = 99
    ours, theirs = (parameters(of, "argmax", "short") for of in (PARAMS, params))
    if compared:
        with pytest.raises(InputError, match=rf"^here: {key} is 99; must be ([\d.]+|'softmax')$"):
            check_parameters(theirs, ours, "here")
    else:
        check_parameters(theirs, ours, "here")
