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

# Functions of a form. The moments of a long length are set to those of the training lengths;
restored = "{} moments restored".format
# the target's weight is restored, and the moments are set back to those of the long length;
kept_long = f"{TARGET}, {{}} moments of the long length".format
# the target's weight is restored, and then the moments of the training lengths;
both = "target weight and {} moments restored".format
# and sequences of the training lengths get the moments of a long length.
damaged = "training sequences, {} moments of the long length".format

# Those that a task without a target has, too.
WITHOUT_TARGET = (BASE, *map(restored, FORMS), HARD, *map(damaged, FORMS))
# Those of the long sequences, whose recovered share is asked, and those of training sequences, whose damage share is.
RECOVERING = (*map(restored, FORMS), TARGET, *map(kept_long, FORMS), *map(both, FORMS), AVERAGED, OTHER, HARD)
DAMAGING = (*map(damaged, FORMS), TRAINED_TARGET, TRAINED_TARGET_AVERAGED)
