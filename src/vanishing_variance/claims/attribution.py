"""Claims that the gain of `ln` comes from the layers above attention, and from the reduced shift of O.

They are judged by interventions.
"""

from dataclasses import replace
from functools import partial

from vanishing_variance.claims.causes import HALF, TRAINED, moments, untested
from vanishing_variance.claims.evidence import Evidence
from vanishing_variance.claims.judgement import Judgement, by_seed, one_sided
from vanishing_variance.claims.verdict import CONTRADICTED, NOT_TESTED, SUPPORTED, UNDECIDED
from vanishing_variance.harness.markdown import mean_estimate
from vanishing_variance.measure.interventions.names import BASE, FORMS, NOTHING, restored
from vanishing_variance.results.shares import gain
from vanishing_variance.statistics.intervals import interval

READ_OUT = (
    "Short range, beyond training: each seed's gain of ln over none is split in two by giving each model the other's "
    "target weights, on the same sequences (Shapley values): what the weights bring, and the rest, which is how the "
    "layers above read and what the other items contribute. Supported: the 95% t interval of the rest is above 0. "
    f"Contradicted: below 0. Else undecided.{TRAINED}"
)
ATTRIBUTION = (
    "By the interventions of cause-moments and cause-read-out. Supported: cause-moments is; or cause-read-out is, and "
    "the moments put right in models without a normaliser, the global ones or every feature's, bring more than half of "
    "what ln brings (95% t interval of the difference, paired by seed, above 0). Contradicted: cause-moments is, and "
    "with both forms that interval is below 0. Else undecided, as where it is not clear that ln brings anything. The "
    f"correlations of metrics/explained.csv describe, and decide nothing.{TRAINED}"
)
# Of what models without a normaliser would gain, which is no gain of ln.
UNIT = "pp for none"
_points = partial(mean_estimate, how="+.1f", unit=" points")


def read_out(task: str, evidence: Evidence) -> Judgement:
    """Judge whether `ln` answers better at equal attention on the target."""
    if missing := untested(task, evidence):
        return missing
    parts = gain(evidence.interventions, task, "short", "ln", evidence.longest["short"])
    if not parts:
        return Judgement(NOT_TESTED, f"no ln and none of {task} were given each other's weights")
    return by_seed(parts["read-out"], "pp", ", ".join(f"{name} {_points(of)}" for name, of in parts.items()))


def improves(task: str, evidence: Evidence) -> Judgement:
    """Judge whether the reduced shift of O is what improves the accuracy."""
    of_moments, of_read_out = moments(task, evidence), read_out(task, evidence)
    if of_read_out.verdict == NOT_TESTED:
        return of_read_out
    parts = gain(evidence.interventions, task, "short", "ln", evidence.longest["short"])
    of = evidence.intervened(task)
    beyond = of[of["length"] > evidence.longest["short"]]
    seeds = 100 * beyond.groupby(["intervention", "where", "seed"])["accuracy"].mean()
    brought = {form: (seeds[restored(form), "before"] - seeds[BASE, NOTHING]).to_numpy() for form in FORMS}
    if len(parts["gain"]) < 2 or len(brought["global"]) != len(parts["gain"]):
        return Judgement(UNDECIDED, "too few seeds of both", UNIT, n=len(parts["gain"]))
    sides = [one_sided(*interval(values - HALF * parts["gain"])[1:]) for values in brought.values()]
    if of_moments.verdict == SUPPORTED or (of_read_out.verdict == SUPPORTED and SUPPORTED in sides):
        verdict = SUPPORTED
    elif of_moments.verdict == CONTRADICTED and set(sides) == {CONTRADICTED}:
        verdict = CONTRADICTED
    else:
        verdict = UNDECIDED
    words = [f"ln brings {_points(parts['gain'])}", f"of it the read-out {_points(parts['read-out'])}"]
    words += [f"{form} moments put right {_points(values)}" for form, values in brought.items()]
    best = max(brought.values(), key=lambda values: float(values.mean()))
    said = f"{', '.join(words)}; cause-moments: {of_moments.verdict}, cause-read-out: {of_read_out.verdict}"
    return replace(by_seed(best, UNIT, said), verdict=verdict)
