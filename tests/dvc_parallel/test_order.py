"""What may begin, in which order, on how many cores, and what may be recorded."""

from itertools import product
from random import Random

from dvc_parallel.cores import share
from dvc_parallel.order import Order

# c waits for a and b, d for c; e for nothing
UPSTREAM = {"a": [], "b": [], "c": ["a", "b"], "d": ["c"], "e": []}


def order(**seconds):
    return Order(UPSTREAM, dict.fromkeys(UPSTREAM, 1.0) | seconds)


def test_the_longest_way_to_the_end_begins_first_and_dvcs_order_decides_between_equals():
    assert order().ready() == ["a", "b", "e"]
    assert order(b=2.0, d=5.0, e=7.5).ready() == ["b", "e", "a"]


def test_what_could_not_be_recorded_is_recorded_later():
    plan = order()
    plan.begin("a")
    plan.settle("a")
    assert plan.recordable() == plan.recordable() == ["a"]  # a full disk may refuse it once
    plan.recorded()
    assert plan.recordable() == []


def test_on_any_graph_each_stage_runs_once_after_all_its_inputs_and_records_are_in_dvcs_order():
    """Random graphs, ends in a random order, and random failures."""
    for seed in range(200):
        random = Random(seed)
        names = [f"s{number}" for number in range(random.randint(1, 12))]
        before = {one: names[:place] for place, one in enumerate(names)}
        upstream = {one: random.sample(before[one], random.randint(0, min(3, len(before[one])))) for one in names}
        plan = Order(upstream, {name: random.random() for name in names})
        running, settled, fallen, records = [], set(), set(), []
        while plan.ready() or running:
            over = {*running, *settled, *fallen}
            assert set(plan.ready()) == {one for one in names if one not in over and settled.issuperset(upstream[one])}
            if plan.ready() and (not running or random.random() < 0.5):
                running.append(plan.ready()[0])
                plan.begin(running[-1])
                continue
            name = running.pop(random.randrange(len(running)))
            if random.random() < 0.2:
                fallen |= {name, *plan.fail(name)}
            else:
                plan.settle(name)
                settled.add(name)
            records += plan.recordable()
            plan.recorded()
            serial = [one for one in names if one in settled]
            assert records == serial[: len(records)]  # what a serial run would have recorded up to some stage
        assert sorted([*settled, *fallen]) == sorted(names)
        assert plan.counts() == (len(settled), len(fallen), len(names))
        assert records == [name for name in names if name in settled]


def test_each_gets_an_equal_share_of_the_cores_or_what_it_wants_and_none_is_given_twice():
    assert share(8, [8, 1, 8]) == [3, 1, 4]
    for cores, *wanted in product(range(1, 8), repeat=4):
        given = share(cores, wanted)
        assert all(1 <= own <= most for own, most in zip(given, wanted, strict=True))
        assert sum(given) == max(len(wanted), min(cores, sum(wanted)))
