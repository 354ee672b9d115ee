import copy

import pytest
from made_up_pieces import PARAMS

from vanishing_variance.harness.errors import InputError
from vanishing_variance.results.records.pieces import check_parameters, parameters, plan


def test_pieces_are_with_all_that_they_are_compared_with():
    groups = [[str(run) for run in group] for group in plan("rms", [1, 4], 8, ("short", "long"), "power")]
    assert groups[0] == [f"argmax-short-power-{norm}-1" for norm in ("none", "std", "ln", "rms")]
    assert [group[0] for group in groups] == [
        *(f"{task}-short-power-none-{block}" for block in (1, 4) for task in ("argmax", "dictionary")),
        *(f"{task}-long-power-none-1" for task in ("argmax", "dictionary")),
    ]
    assert groups[4] == ["argmax-long-power-none-1", "argmax-long-power-rms-1"]


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
