"""The interventions by name, and where each acts.

A moment intervention acts on the attention outputs O, `before` or `after` the normaliser; every other one on the
weights that the items' hidden layers are averaged with, `attention`, and so before both. `nothing` is set at the base.
"""

FORMS = ("global", "feature")
PLACES = ("before", "after")
NOTHING, ATTENTION = "nothing", "attention"
BASE = "base"
TARGET = "target weight restored"
AVERAGED = "distractors averaged"
OTHER = "weights of another variant"
HARD = "hard attention"
TRAINED_TARGET = "training sequences, target weight of the long length"
TRAINED_TARGET_AVERAGED = f"{TRAINED_TARGET}, {AVERAGED}"


def restored(form: str) -> str:
    """Return the name of setting the moments of a long length to those of the training lengths."""
    return f"{form} moments restored"


def kept_long(form: str) -> str:
    """Return the name of restoring the target's weight, and setting the moments back to those of the long length."""
    return f"{TARGET}, {form} moments of the long length"


def both(form: str) -> str:
    """Return the name of restoring the target's weight, and then the moments of the training lengths."""
    return f"target weight and {form} moments restored"


def damaged(form: str) -> str:
    """Return the name of giving sequences of the training lengths the moments of a long length."""
    return f"training sequences, {form} moments of the long length"


# Those of the long sequences, whose recovered share is asked, and those of training sequences, whose damage share is.
RECOVERING = (
    *(restored(form) for form in FORMS),
    TARGET,
    *(kept_long(form) for form in FORMS),
    *(both(form) for form in FORMS),
    *(AVERAGED, OTHER, HARD),
)
DAMAGING = (*(damaged(form) for form in FORMS), TRAINED_TARGET, TRAINED_TARGET_AVERAGED)
