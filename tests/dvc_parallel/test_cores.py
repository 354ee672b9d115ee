"""How cores are divided."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dvc_parallel.cores import share


@pytest.mark.parametrize(
    ("cores", "wanted", "given"),
    [
        (2, [8], [2]),
        (2, [8, 8], [1, 1]),
        (2, [8, 8, 8], [1, 1, 1]),
        (64, [2, 2, 8], [2, 2, 8]),
        (8, [1, 8], [1, 7]),
        (8, [8, 1, 8], [3, 1, 4]),
        (8, [2, 8, 8], [2, 3, 3]),
        (8, [], []),
    ],
)
def test_equal_shares_and_what_is_left_goes_to_those_that_want_more(cores, wanted, given):
    assert share(cores, wanted) == given


@given(st.integers(1, 100), st.lists(st.integers(1, 100), min_size=1, max_size=20))
def test_each_gets_one_at_least_and_no_more_than_it_wants_and_no_core_is_given_twice(cores, wanted):
    given = share(cores, wanted)
    assert all(1 <= own <= most for own, most in zip(given, wanted, strict=True))
    assert sum(given) <= max(cores, len(wanted))
    if sum(wanted) >= cores >= len(wanted):
        assert sum(given) == cores
