"""What may begin, in which order, and what may be recorded."""

from hypothesis import given
from hypothesis import strategies as st

from dvc_parallel.order import Order

# c waits for a and b, d for c; e for nothing
UPSTREAM = {"a": [], "b": [], "c": ["a", "b"], "d": ["c"], "e": []}


def order(seconds=None, upstream=UPSTREAM):
    return Order(upstream, dict.fromkeys(upstream, 1.0) | (seconds or {}))


def finish(plan, *names):
    for name in names:
        plan.begin(name)
        plan.settle(name)


def test_only_what_waits_for_nothing_is_ready():
    assert set(order().ready()) == {"a", "b", "e"}


def test_what_is_left_takes_as_long_as_its_longest_chain_or_all_of_it_shared():
    plan = order()
    assert plan.left({"a": 1.0, "c": 2.0, "d": 3.0, "e": 4.0}, at_once=4) == 6.0
    assert plan.left({"a": 1.0, "c": 2.0, "d": 3.0, "e": 14.0}, at_once=1) == 20.0
    assert plan.left({}, at_once=1) == 0.0


def test_it_counts_what_is_settled_and_what_will_not_run():
    plan = order()
    finish(plan, "a")
    plan.begin("b")
    assert (plan.counts(), plan.waiting()) == ((1, 0, 5), ["c", "d", "e"])
    plan.fail("b")
    assert (plan.counts(), plan.waiting()) == ((1, 3, 5), ["e"])


def test_a_stage_is_ready_when_all_that_it_waits_for_are_settled():
    plan = order()
    finish(plan, "a")
    assert "c" not in plan.ready()
    plan.begin("b")
    assert "c" not in plan.ready()
    plan.settle("b")
    assert "c" in plan.ready()


def test_what_has_begun_is_not_ready_again():
    plan = order()
    plan.begin("a")
    assert "a" not in plan.ready()
    plan.settle("a")
    assert "a" not in plan.ready()


def test_the_longest_way_to_the_end_begins_first_and_dvcs_order_decides_between_equals():
    assert order().ready() == ["a", "b", "e"]
    assert order({"e": 10.0}).ready() == ["e", "a", "b"]
    assert order({"b": 2.0, "d": 5.0, "e": 7.5}).ready() == ["b", "e", "a"]


def test_a_failure_stops_all_that_comes_after_and_nothing_else():
    plan = order()
    plan.begin("a")
    assert plan.fail("a") == ["c", "d"]
    assert plan.ready() == ["b", "e"]
    finish(plan, "b", "e")
    assert plan.ready() == []
    assert plan.recordable() == ["b", "e"]


def test_what_fell_already_is_not_named_again():
    plan = order()
    plan.begin("a")
    plan.begin("b")
    assert plan.fail("a") == ["c", "d"]
    assert plan.fail("b") == []


def test_records_are_kept_in_dvcs_order():
    plan = order()
    finish(plan, "b", "e")
    assert plan.recordable() == []
    finish(plan, "a")
    assert plan.recordable() == ["a", "b"]
    assert plan.recordable() == ["a", "b"]  # until they have been recorded: a full disk may refuse it once
    plan.recorded()
    assert plan.recordable() == []
    finish(plan, "c", "d")
    assert plan.recordable() == ["c", "d", "e"]


@st.composite
def graphs(draw):
    size = draw(st.integers(1, 12))
    names = [f"s{number}" for number in range(size)]
    return {
        name: sorted(draw(st.sets(st.sampled_from(names[:place])))) if place else [] for place, name in enumerate(names)
    }


@given(graphs(), st.data())
def test_whatever_the_graph_and_however_it_ends_each_stage_runs_once_after_its_inputs(upstream, data):
    plan, running, settled, fallen, records = order(upstream=upstream), [], [], set(), []
    while plan.ready() or running:
        ready = plan.ready()
        if ready and (not running or data.draw(st.booleans())):
            name = ready[0]
            assert set(upstream[name]) <= set(settled)
            plan.begin(name)
            running.append(name)
            continue
        name = running.pop(data.draw(st.integers(0, len(running) - 1)))
        if data.draw(st.integers(0, 5)) == 0:
            fallen |= {name, *plan.fail(name)}
        else:
            plan.settle(name)
            settled.append(name)
        records += plan.recordable()
        plan.recorded()
    assert len(settled) == len(set(settled))
    assert set(settled) | fallen == set(upstream)
    assert not set(settled) & fallen
    assert records == [name for name in upstream if name in set(settled)]  # as a serial run that keeps going
