"""Claims about what costs the accuracy at length, and what `ln` gains by: one thing is set, the rest is left."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pandas as pd

from vanishing_variance.claims.evidence import Evidence
from vanishing_variance.claims.judgement import Judgement, by_seed, decided, one_sided
from vanishing_variance.claims.verdict import CONTRADICTED, ONE_SEED, SUPPORTED, UNDECIDED, NotTestedError
from vanishing_variance.harness.numbers import estimate, power
from vanishing_variance.measure.interventions import names
from vanishing_variance.results.accuracy import rows
from vanishing_variance.results.shares import Values, gain, shares
from vanishing_variance.statistics.intervals import interval, mean_estimate

HALF = 0.5
_MODELS = (
    "Models without a normaliser, trained on the short range, mean accuracy over all test lengths beyond training, "
    "as trained; shares of the accuracy that is lost there, with 95% intervals over seeds (Fieller). "
)
TRAINED = " Not comparable where the models are behind the paper's."
LENGTHS = " Single lengths at which the verdict would be another are named, and decide nothing."
MOMENTS = (
    f"{_MODELS}Recovered: what comes back where O is shifted and scaled to its moments of the training lengths; "
    "damage: what sequences of the training lengths lose where O has the moments of the long ones. Both with the "
    "global mean and standard deviation, as the paper has it, and with every feature's, the stronger form; moments of "
    "other sequences. Supported: one of the four intervals is above one half. Contradicted: all four are below. Else "
    f"undecided.{LENGTHS}{TRAINED}"
)
TARGET_WEIGHT = (
    f"{_MODELS}The target's attention weight is drawn from those of the training lengths, the other weights scaled to "
    "the rest. Recovered: what comes back; and what comes back where every feature's moments are then set to what they "
    "were. Supported: both intervals are above one half. Contradicted: one of the two is below. Else undecided."
    f"{LENGTHS}{TRAINED}"
)
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
    "with both forms that interval is below 0. Else undecided, as where it is not clear that ln brings anything."
    f"{TRAINED}"
)
# Of shares, by their kind.
UNITS = {"recovered": "% of the loss recovered", "damage": "% of the loss reproduced"}
# Of what models without a normaliser would gain, which is no gain of ln.
UNIT = "pp for none"


def moments(task: str, evidence: Evidence) -> Judgement:
    """Judge whether the moments of O cost most of the accuracy."""
    wanted = {}
    for kind, name in (("recovered", names.restored), ("damage", names.damaged)):
        for form in names.FORMS:
            wanted[f"{kind} by {form} moments"] = (kind, name(form), "before")
    return _judged(task, evidence, wanted, lambda sides: decided(SUPPORTED in sides, sides == {CONTRADICTED}))


def attention(task: str, evidence: Evidence) -> Judgement:
    """Judge whether the target's attention weight costs most of the accuracy, whatever the moments are."""
    wanted = {
        "recovered by the target's weight": ("recovered", names.TARGET, names.ATTENTION),
        "with the moments of the long length": ("recovered", names.kept_long("feature"), "before"),
    }
    return _judged(task, evidence, wanted, lambda sides: decided(sides == {SUPPORTED}, CONTRADICTED in sides))


def read_out(task: str, evidence: Evidence) -> Judgement:
    """Judge whether `ln` answers better at equal attention on the target."""
    parts = _gain(task, evidence)
    words = [f"{name} {_points(values)}" for name, values in parts.items()]
    return by_seed(parts["read-out"], "pp", ", ".join(words))


def improves(task: str, evidence: Evidence) -> Judgement:
    """Judge whether the reduced shift of O is what improves the accuracy."""
    of_moments = moments(task, evidence).verdict
    of_read_out = read_out(task, evidence).verdict
    parts = _gain(task, evidence)
    gained = parts["gain"]
    percent = 100 * _beyond(task, evidence).groupby(["intervention", "where", "seed"])["accuracy"].mean()
    base = percent[names.BASE, names.NOTHING]
    if len(base) != len(gained):
        return Judgement(UNDECIDED, "too few seeds of both", UNIT, n=len(gained))
    words = [f"ln brings {_points(gained)}", f"of it the read-out {_points(parts['read-out'])}"]
    sides = []
    recoveries = []
    for form in names.FORMS:
        recovered = (percent[names.restored(form), "before"] - base).to_numpy()
        _, low, high = interval(recovered - HALF * gained)
        sides.append(one_sided(low, high))
        recoveries.append(recovered)
        words.append(f"{form} moments put right {_points(recovered)}")
    said = f"{', '.join(words)}; cause-moments: {of_moments}, cause-read-out: {of_read_out}"
    best = max(recoveries, key=np.mean)
    by_read_out = of_read_out == SUPPORTED and SUPPORTED in sides
    refuted = of_moments == CONTRADICTED and set(sides) == {CONTRADICTED}
    verdict = decided(of_moments == SUPPORTED or by_read_out, refuted)
    return replace(by_seed(best, UNIT, said), verdict=verdict)


def _judged(
    task: str, evidence: Evidence, wanted: dict[str, tuple[str, str, str]], decide: Callable[[set[str]], str]
) -> Judgement:
    """Judge by the sides of one half that shares are on, on average over lengths; our number is the largest share.

    `wanted`, by words: kind, intervention and place of a share of models without a normaliser beyond training.
    """
    _beyond(task, evidence)
    by_place = shares(evidence.intervened(task), evidence.training.longest).set_index(["kind", "intervention", "where"])
    by_length = by_place.loc[list(wanted.values())]
    table = by_length[by_length["length"].isna()][["share", "share_low", "share_high", "note", "n"]]
    verdict = decide(_sides(table))
    said = []
    for words, (share, low, high, note, _) in zip(wanted, table.to_numpy(), strict=True):
        percent = [100 * value for value in (share, low, high)]
        text = f"({note})" if np.isnan(share) else estimate("z.0f", *percent, unit="%")
        said.append(f"{words} {text}")
    others: dict[str, list[str]] = {}
    beyond = by_length[by_length["length"] > evidence.training.longest["short"]]
    for length in beyond["length"].unique():
        other = decide(_sides(rows(beyond, length=length)))
        if other != verdict:
            others.setdefault(other, []).append(power(length))
    said += [f"{other} at {', '.join(lengths)}" for other, lengths in others.items()]
    ordered = table.sort_values("share", ascending=False, kind="stable")
    unit = UNITS[ordered.index.get_level_values("kind")[0]]
    share, low, high, _, n = ordered.iloc[0]
    return Judgement(verdict, ", ".join(said), unit, 100 * share, 100 * low, 100 * high, n=int(n))


def _sides(table: pd.DataFrame) -> set[str]:
    """Return the sides of one half that the shares of a table are on."""
    ends = table[["share_low", "share_high"]].to_numpy() - HALF
    return {one_sided(low, high) for low, high in ends}


def _beyond(task: str, evidence: Evidence) -> pd.DataFrame:
    """Return the interventions beyond training in models without a normaliser.

    Raises NotTestedError without any, and where there is one seed.
    """
    intervened = evidence.intervened(task)
    beyond = intervened[intervened["length"] > evidence.training.longest["short"]]
    if beyond.empty:
        raise NotTestedError(f"no intervention beyond training in models of {task} without a normaliser")
    if beyond["seed"].nunique() < 2:
        raise NotTestedError(ONE_SEED)
    return beyond


def _gain(task: str, evidence: Evidence) -> dict[str, Values]:
    """Return each seed's gain of `ln`, split in two. Raises NotTestedError where a variant is missing."""
    _beyond(task, evidence)
    parts = gain(evidence.interventions, task, "short", "ln", evidence.training.longest["short"])
    if not parts:
        raise NotTestedError(f"no ln and none of {task} were given each other's weights")
    return parts


def _points(values: Values) -> str:
    return mean_estimate(values, "+.1f", " points")
