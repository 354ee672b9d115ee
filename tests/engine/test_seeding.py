from vanishing_variance.engine.streams import stream


def test_every_part_of_a_name_counts():
    names = [(0, "a", 1), (1, "a", 1), (0, "b", 1), (0, "a", 2), (0, "a", "1"), (0, "a1"), (0, "a", 1, 0)]
    assert len({stream(*name).integers(2**63) for name in names}) == len(names)
