import numpy as np
import pandas as pd
import pytest

from vanishing_variance.harness.errors import InputError
from vanishing_variance.measure.proposition.summary import exponents, summary
from vanishing_variance.statistics.power_law import power_law

TASKS, LENGTHS = ("argmax", "dictionary"), np.array([1, 10, 20, 40, 80])


def cells(task="argmax", norm="none"):
    """Feature 0: 6/N, with a first length that is off; feature 1: 4 N^-0.5. Standard errors are a tenth."""
    parts = []
    for feature, variance in enumerate((6 / LENGTHS, 4 * LENGTHS**-0.5)):
        noise = np.array([0.5, 1.01, 0.99, 1.0, 1.0])
        columns = {"length": LENGTHS, "n": 50, "variance": variance * noise, "predicted": 3 / LENGTHS}
        parts.append(pd.DataFrame({"task": task, "norm": norm, "feature": feature, **columns}))
    frame = pd.concat(parts, ignore_index=True)
    bound = np.r_[frame["variance"][:5] * 2, frame["variance"][5:9] * [0.5, 0.79, 0.81, 0.99], 10]
    return frame.assign(variance_se=frame["variance"] / 10, bound=bound)


def test_exponents_are_fitted_to_the_tail_and_constants_are_those_at_the_longest_length():
    frame = cells()
    laws = exponents(frame, 10)
    assert laws["feature"].tolist() == [0, 1]
    assert (laws["tail"] == 10).all()
    law = power_law(LENGTHS[1:], frame["variance"][1:5].to_numpy())
    assert laws.loc[0, ["exponent", "low", "high"]].tolist() == [law.exponent, law.low, law.high]
    assert laws["exponent"].tolist() == pytest.approx([-1, -0.5], abs=0.02)
    assert laws["predicted"].tolist() == pytest.approx([3, 3])
    assert laws["measured"].tolist() == pytest.approx([6, 4 * 80**0.5])


def test_the_metrics_are_by_role_and_count_where_the_bound_fails():
    frame = pd.concat([cells(task, norm) for task in TASKS for norm in ("none", "rms")])
    document = summary(frame, exponents(frame, 10), "rms")
    assert {task: [*roles] for task, roles in document.items()} == {task: ["none", "norm"] for task in TASKS}
    ratio = (2 + 4 * 80**0.5 / 3) / 2
    assert document["argmax"]["norm"] == {
        "variance_exponent": pytest.approx(-0.75, abs=0.01),
        "interval_holds_minus_1": 0.5,
        "measured_over_predicted": pytest.approx(ratio, abs=1e-4),
        "above_bound": 0.4,
        "clearly_above_bound": 0.2,
    }
    assert document["argmax"]["none"] == document["dictionary"]["norm"]


def test_a_variance_without_an_exponent_is_one_clear_error():
    frame = cells(norm="ln")
    frame.loc[7, "variance"] = 0.0
    with pytest.raises(InputError, match=r"^proposition: .* \(task argmax, norm ln, feature 1, length 20\)"):
        exponents(frame, 10)
