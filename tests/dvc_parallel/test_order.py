"""Which stages may begin, and which may be recorded."""

from random import Random

from dvc_parallel.graph import Order


def test_on_any_graph_each_stage_runs_once_after_all_its_inputs_and_records_are_in_dvcs_order():
    """Random graphs, ends in a random order, and random failures."""
    for seed in range(200):
        random = Random(seed)
        names = [f"s{number}" for number in range(random.randint(1, 12))]
        before = {one: names[:place] for place, one in enumerate(names)}
        inputs = {one: random.sample(before[one], random.randint(0, min(3, len(before[one])))) for one in names}
        order = Order(inputs)
        running, settled, fallen, records = [], set(), set(), []
        while order.ready() or running:
            over = {*running, *settled, *fallen}
            assert order.ready() == [one for one in names if one not in over and settled.issuperset(inputs[one])]
            if order.ready() and (not running or random.random() < 0.5):
                running.append(random.choice(order.ready()))
                order.begin(running[-1])
                continue
            name = running.pop(random.randrange(len(running)))
            if random.random() < 0.2:
                fallen |= {name, *order.fail(name)}
            else:
                order.settle(name)
                settled.add(name)
            assert order.recordable() == order.recordable()  # a full disk may refuse it once
            records += order.recordable()
            order.recorded()
            assert not order.recordable()
            serial = [one for one in names if one in settled]
            assert records == serial[: len(records)]  # what a serial run would have recorded up to some stage
        assert sorted([*settled, *fallen]) == sorted(names)
        assert records == [name for name in names if name in settled]
