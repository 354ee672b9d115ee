import numpy as np
import pandas as pd
import pytest

from vanishing_variance.harness.errors import InputError
from vanishing_variance.measure.proposition.summary import exponents, summary
from vanishing_variance.statistics.power_law import power_law

LENGTHS = np.array([1, 10, 20, 40, 80])
# Feature 0 has a variance of 6/N, with a first length that is off, feature 1 of 4 N^-0.5; standard errors are a tenth.
NOISE = np.array([0.5, 1.01, 0.99, 1.0, 1.0])
VARIANCES = [6 / LENGTHS * NOISE, 4 * LENGTHS**-0.5 * NOISE]
# Of the variance: above all of feature 0, and of feature 1 below four, two of them by more than 1.96 standard errors.
BOUNDS = [[2] * 5, [0.5, 0.79, 0.81, 0.99, 10]]


def cells(task="argmax", norm="none"):
    parts = []
    for feature, (variance, bound) in enumerate(zip(VARIANCES, BOUNDS, strict=True)):
        columns = {"length": LENGTHS, "n": 50, "variance": variance, "predicted": 3 / LENGTHS}
        part = pd.DataFrame({"task": task, "norm": norm, "feature": feature, **columns})
        parts.append(part.assign(variance_se=variance / 10, bound=variance * bound))
    return pd.concat(parts, ignore_index=True)


def test_exponents_are_fitted_to_the_tail_and_constants_are_those_at_the_longest_length():
    laws = exponents(cells(), 10)
    law = power_law(LENGTHS[1:], VARIANCES[0][1:])
    assert laws.loc[0, ["exponent", "low", "high"]].tolist() == [law.exponent, law.low, law.high]
    assert laws["exponent"].tolist() == pytest.approx([-1, -0.5], abs=0.02)
    assert laws["predicted"].tolist() == pytest.approx([3, 3])
    assert laws["measured"].tolist() == pytest.approx([6, 4 * 80**0.5])


def test_the_metrics_are_by_role_and_count_where_the_bound_fails():
    frame = pd.concat([cells(), cells(norm="rms"), cells("dictionary")])
    document = summary(frame, exponents(frame, 10), "rms")
    assert list(document["argmax"]) == ["none", "norm"]
    assert list(document["dictionary"]) == ["none"]
    ratio = (2 + 4 * 80**0.5 / 3) / 2
    assert document["argmax"]["norm"] == {
        "variance_exponent": pytest.approx(-0.75, abs=0.01),
        "interval_holds_minus_1": 0.5,
        "measured_over_predicted": pytest.approx(ratio, abs=1e-4),
        "above_bound": 0.4,
        "clearly_above_bound": 0.2,
    }


def test_a_variance_without_an_exponent_is_one_clear_error():
    frame = cells(norm="ln")
    frame.loc[7, "variance"] = 0.0
    with pytest.raises(InputError, match=r"^proposition: task argmax, norm ln, feature 1: its variance is not"):
        exponents(frame, 10)
