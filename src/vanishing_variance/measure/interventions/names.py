"""The interventions by name, and where each acts.

A moment intervention acts on the attention outputs O, `before` the normaliser; every other one on the weights that the
items' hidden layers are averaged with, `attention`, and so before that. `nothing` is set at the base.
"""

FORMS = ("global", "feature")
NOTHING, ATTENTION, BEFORE = "nothing", "attention", "before"
BASE = "base"
TARGET = "target weight restored"
OTHER = "weights of another variant"
TRAINED_TARGET = "training sequences, target weight of the long length"

# Functions of a form. The moments of a long length are set to those of the training lengths;
restored = "{} moments restored".format
# the target's weight is restored, and the moments are set back to those of the long length;
kept_long = f"{TARGET}, {{}} moments of the long length".format
# the target's weight is restored, and then the moments of the training lengths;
both = "target weight and {} moments restored".format
# and sequences of the training lengths get the moments of a long length.
damaged = "training sequences, {} moments of the long length".format

# Those that a task without a target has, too.
WITHOUT_TARGET = (BASE, *map(restored, FORMS), *map(damaged, FORMS))
# Those of the long sequences, whose recovered share is asked, and those of training sequences, whose damage share is.
RECOVERING = (*map(restored, FORMS), TARGET, *map(kept_long, FORMS), *map(both, FORMS), OTHER)
DAMAGING = (*map(damaged, FORMS), TRAINED_TARGET)
