"""The time that is left, by a clock that the tests set."""

import heapq

import pytest

from dvc_parallel.order import Order
from dvc_parallel.remaining import ENOUGH, Remaining, about

WORK = {"train@a": 100.0, "train@b": 50.0, "evaluate@a": 40.0, "small": 1.0}


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def remaining(clock):
    return Remaining(WORK, clock)


def test_it_is_not_known_before_enough_is_done(remaining, clock):
    remaining.began("small")
    clock.now = 9.0
    remaining.ended("small", well=True)
    assert WORK["small"] < ENOUGH
    assert remaining.left("train@a") is None


def test_what_ended_tells_the_speed_of_its_kind_and_the_others_are_taken_for_as_fast(remaining, clock):
    remaining.began("train@b")
    clock.now = 100.0
    remaining.ended("train@b", well=True)
    assert [remaining.left(name) for name in ("train@a", "evaluate@a")] == [200.0, 80.0]
    remaining.began("evaluate@a")
    clock.now = 120.0
    assert remaining.left("evaluate@a") == 60.0
    clock.now = 200.0
    assert remaining.left("evaluate@a") == 0.0  # it takes longer than was thought
    clock.now = 220.0
    remaining.ended("evaluate@a", well=True)
    assert (remaining.left("train@a"), remaining.left("evaluate@a")) == (200.0, 120.0)
    assert remaining.left("small") == pytest.approx((100.0 + 120.0) / (50.0 + 40.0))


def test_nothing_is_said_of_work_that_is_not_known_and_dvcs_own_takes_no_time(clock):
    remaining = Remaining({"train@b": 50.0, "data": 0.0}, clock)
    assert remaining.left("data") == 0.0
    for name in ("train@new", "train@b"):
        remaining.began(name)
        clock.now += 100.0
        remaining.ended(name, well=True)
    assert (remaining.left("train@new"), remaining.left("train@b")) == (None, 100.0)


def test_all_that_ended_counts(remaining, clock):
    for name, ended in (("train@b", 100.0), ("train@a", 500.0)):
        remaining.began(name)
        clock.now = ended
        remaining.ended(name, well=True)
    assert remaining.left("train@b") == pytest.approx(50.0 * 500.0 / 150.0)


def test_what_failed_tells_nothing(remaining, clock):
    remaining.began("train@b")
    clock.now = 1.0
    remaining.ended("train@b", well=False)
    assert remaining.left("train@a") is None


def test_a_training_that_runs_tells_its_speed_and_how_far_it_is(remaining, clock):
    remaining.began("train@a")
    clock.now = 10.0
    remaining.progressed("train@a", 0.1)
    assert remaining.left("train@a") is None
    clock.now = 20.0
    remaining.progressed("train@a", 0.2)
    assert (remaining.left("train@a"), remaining.left("train@b")) == pytest.approx((80.0, 50.0))
    clock.now = 30.0
    assert remaining.left("train@a") == pytest.approx(70.0)


def test_a_training_that_goes_on_from_a_checkpoint_is_no_faster_for_that(remaining, clock):
    remaining.began("train@a")
    clock.now = 10.0
    remaining.progressed("train@a", 0.9)
    clock.now = 30.0
    remaining.ended("train@a", well=True)
    assert remaining.left("train@b") == pytest.approx(100.0)


def test_a_word_of_a_stage_that_has_ended_is_too_late(remaining):
    remaining.progressed("train@a", 0.5)
    remaining.began("train@a")
    remaining.ended("train@a", well=False)
    remaining.progressed("train@a", 0.6)
    assert remaining.left("train@a") is None


def test_after_the_first_minutes_it_is_near_what_the_whole_takes_on_any_machine(clock):
    """Two stages at once of a study in which this machine is 2.5 times as slow in training, and 1.5 times in tests."""
    pairs = [f"{task}-{norm}" for task in ("argmax", "dictionary") for norm in ("none", "std", "ln")]
    work = {f"train@{pair}": 50.0 if "argmax" in pair else 240.0 for pair in pairs}
    work |= {f"evaluate@{pair}": 50.0 for pair in pairs} | {"ttest": 3.0, "figures": 6.0, "report": 3.0}
    upstream = {name: [name.replace("evaluate", "train")] if name.startswith("evaluate") else [] for name in work}
    upstream |= {"ttest": [f"evaluate@{pair}" for pair in pairs], "figures": ["ttest"], "report": ["figures"]}
    took = {name: (2.5 if name.startswith("train") else 1.5) * seconds for name, seconds in work.items()}

    order = Order(upstream, dict.fromkeys(work, 1.0))
    remaining = Remaining(work, clock)
    running, said = [], []
    while True:
        for name in order.ready()[: 2 - len(running)]:
            order.begin(name)
            remaining.began(name)
            heapq.heappush(running, (clock.now + took[name], name))
        if not running:
            break
        clock.now, name = heapq.heappop(running)
        remaining.ended(name, well=True)
        order.settle(name)
        left = {other: remaining.left(other) for other in [*(one for _, one in running), *order.waiting()]}
        said.append((clock.now, order.left(left, 2)))
    whole = clock.now
    assert 0.5 * sum(took.values()) <= whole
    assert [left for _, left in said] == pytest.approx([whole - now for now, _ in said], rel=0.2, abs=60.0)
    assert said[-1] == (whole, 0.0)


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0.0, "less than a minute"),
        (29.0, "less than a minute"),
        (31.0, "about 1 min"),
        (1400.0, "about 23 min"),
        (5940.0, "about 99 min"),
        (6000.0, "about 1 h 40 min"),
        (36030.0, "about 10 h 0 min"),
    ],
)
def test_it_is_said_no_more_exactly_than_it_is_known(seconds, said):
    assert about(seconds) == said
