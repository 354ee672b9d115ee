import math

from vanishing_variance.report.formats import interval, number, raised
from vanishing_variance.study.markdown import power


def test_a_minus_is_a_minus_and_zero_has_no_sign():
    assert number(-3.14, "+.1f") == "−3.1"
    assert number(2.0, "+.1f") == "+2.0"
    assert number(-0.04, "+.1f") == number(0.04, "+.1f") == "0.0"
    assert number(1e-9, ".1g") == "1e−09"
    assert number(8, "d") == "8"


def test_an_interval_needs_both_ends():
    assert interval(-1.0, 2.0, "+.1f") == "−1.0, +2.0"
    assert interval(-1.0, math.nan, "+.1f") == interval(None, 2.0, "+.1f") == "–"


def test_powers_are_raised_and_the_rest_is_escaped():
    assert [raised(power(n)) for n in (16384, 1, 100)] == ["2<sup>14</sup>", "2<sup>0</sup>", "100"]
    assert raised("N^-0.5. <b>, 2^4") == "N<sup>−0.5</sup>. &lt;b&gt;, 2<sup>4</sup>"
