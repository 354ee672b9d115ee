"""Interventions: accuracy that comes back, or is lost, where one thing is set and the rest is left."""

from dataclasses import replace

import numpy as np
import pandas as pd

from vanishing_variance.claims.criteria import CRITERIA, HALF
from vanishing_variance.claims.evidence import Evidence
from vanishing_variance.claims.paper import ONE_SEED, Claim, Measured, by_seed
from vanishing_variance.claims.verdict import NotTestedError
from vanishing_variance.harness.numbers import estimate
from vanishing_variance.measure.interventions import names
from vanishing_variance.results import shares
from vanishing_variance.results.columns import rows
from vanishing_variance.statistics.intervals import interval, mean_estimate

# By statistic, and words: kind, intervention and place of a share.
SHARES = {
    "share of moments": {
        f"{kind} by {form} moments": (kind, name(form), names.BEFORE)
        for kind, name in (("recovered", names.restored), ("damage", names.damaged))
        for form in names.FORMS
    },
    "share of the target's weight": {
        "recovered by the target's weight": ("recovered", names.TARGET, names.ATTENTION),
        "with the moments of the long length": ("recovered", names.kept_long("feature"), names.BEFORE),
    },
}
UNITS = {"recovered": "% of the loss recovered", "damage": "% of the loss reproduced"}
ENDS = ["share_low", "share_high"]
SHARE = ["share", *ENDS]


def shares_of_loss(claim: Claim, evidence: Evidence) -> Measured:
    """Measure shares of the accuracy that models of the baseline lose beyond training; the largest is the value."""
    _beyond(claim, evidence)
    wanted, longest = SHARES[claim.statistic], evidence.training.longest
    of_line = rows(evidence.interventions, task=claim.pair.task, line=claim.baseline)
    by_place = shares.shares(of_line, longest).set_index(["kind", "intervention", "where"])
    measured = by_place.loc[list(wanted.values())].reset_index()
    average = measured[measured["length"].isna()]
    beyond = measured[measured["length"] > longest[claim.baseline]]
    words = []
    for name, share in zip(wanted, average.to_dict("records"), strict=True):
        percent = [100 * share[column] for column in SHARE]
        text = estimate("z.0f", *percent, unit="%")
        words.append(f"{name} ({share['note']})" if np.isnan(share["share"]) else f"{name} {text}")
    largest = average.sort_values("share", ascending=False, kind="stable").iloc[0]
    ours, low, high = (100 * largest[column] for column in SHARE)
    return Measured(
        ", ".join(words),
        UNITS[largest["kind"]],
        *(ours, low, high),
        n=int(largest["n"]),
        intervals=average[ENDS].to_numpy(),
        by_length={length: of_length[ENDS].to_numpy() for length, of_length in beyond.groupby("length")},
    )


def read_out(claim: Claim, evidence: Evidence) -> Measured:
    """Measure what the treatment gains over the baseline at equal attention on the target."""
    parts = _gain(claim, evidence)
    words = [f"{name} {_points(values)}" for name, values in parts.items()]
    return by_seed(parts["read-out"], "pp", ", ".join(words))


def attribution(claim: Claim, evidence: Evidence) -> Measured:
    """Measure what the moments of O, put right in models of the baseline, bring; the value is of the better form.

    `intervals`: of each form, less half of the treatment's gain.
    """
    moments = shares_of_loss(replace(claim, statistic="share of moments"), evidence)
    parts = {
        "cause-moments": CRITERIA["one above half"](moments),
        "cause-read-out": CRITERIA["above 0"](read_out(claim, evidence)),
    }
    gain = _gain(claim, evidence)
    percent = 100 * _beyond(claim, evidence).groupby(["intervention", "where", "seed"])["accuracy"].mean()
    base = percent[names.BASE, names.NOTHING]
    if len(base) != len(gain["gain"]):
        raise NotTestedError(f"not every seed of {claim.pair.task} has both {claim.baseline} and {claim.treatment}")
    words = [f"ln brings {_points(gain['gain'])}", f"of it the read-out {_points(gain['read-out'])}"]
    recovered = {}
    for form in names.FORMS:
        recovered[form] = (percent[names.restored(form), names.BEFORE] - base).to_numpy()
        words.append(f"{form} moments put right {_points(recovered[form])}")
    less_half = [values - HALF * gain["gain"] for values in recovered.values()]
    intervals = np.array([interval(values)[1:] for values in less_half])
    verdicts = ", ".join(f"{key}: {verdict}" for key, verdict in parts.items())
    said = f"{', '.join(words)}; {verdicts}"
    # The unit: of what models without a normaliser would gain, which is no gain of ln.
    best = max(recovered.values(), key=np.mean)
    return by_seed(best, "pp for none", said, intervals=intervals, parts=parts)


def _beyond(claim: Claim, evidence: Evidence) -> pd.DataFrame:
    """Return the interventions beyond training in models of the baseline.

    Raises NotTestedError without any, and where there is one seed.
    """
    task = claim.pair.task
    intervened = rows(evidence.interventions, task=task, line=claim.baseline)
    beyond = intervened[intervened["length"] > evidence.training.longest[claim.baseline]]
    if beyond.empty:
        raise NotTestedError(f"no intervention beyond training in models of {task} without a normaliser")
    if beyond["seed"].nunique() < 2:
        raise NotTestedError(ONE_SEED)
    return beyond


def _gain(claim: Claim, evidence: Evidence) -> dict[str, shares.Values]:
    """Return each seed's gain of the treatment, split in two. Raises NotTestedError where a variant is missing."""
    _beyond(claim, evidence)
    task = claim.pair.task
    parts = shares.gain(evidence.interventions, task, claim.treatment, evidence.training.longest[claim.baseline])
    if not parts:
        raise NotTestedError(f"no ln and none of {task} were given each other's weights")
    return parts


def _points(values: shares.Values) -> str:
    return mean_estimate(values, "+.1f", " points")
