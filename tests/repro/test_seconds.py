"""How long a stage is likely to take."""

import pytest

from vanishing_variance.repro.seconds import expected, noted

TRAIN = "python -m stages.train --task argmax --range short --norm ln --block 0"


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (TRAIN, "train-argmax-short-ln-0"),
        ("python -m stages.ttest", "ttest"),
        ("sleep 3", ""),
        ("echo 'unclosed", ""),
    ],
)
def test_a_command_is_known_by_the_name_under_which_it_notes_its_time(line, name):
    assert noted((line,)) == name


def test_a_command_without_lines_has_no_name():
    assert noted(()) == ""


def test_what_ran_takes_as_long_again_and_what_never_did_as_long_as_others_of_its_script():
    lines = {"a": (TRAIN,), "b": (TRAIN.replace("ln", "std"),), "c": ("python -m stages.ttest",), "d": ("sleep 3",)}
    took = {"train-argmax-short-ln-0": 30.0, "train-argmax-short-none-0": 10.0}
    assert expected(lines, took) == {"a": 30.0, "b": 20.0, "c": 1.0, "d": 1.0}
