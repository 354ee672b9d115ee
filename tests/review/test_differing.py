from vanishing_variance.review.differing import figures, others

FILES = [
    ("M", "plots/a.svg"),
    ("M", "plots/a.png"),
    ("A", "plots/b.png"),
    ("D", "plots/c.svg"),
    ("M", "plots/a.csv"),
    ("A", "metrics/t.json"),
]


def test_figures_are_named_once_with_their_suffixes():
    assert figures(FILES) == {
        "changed": {"plots/a": ["png", "svg"]},
        "added": {"plots/b": ["png"]},
        "removed": {"plots/c": ["svg"]},
    }
    assert figures([]) == {}


def test_the_rest_is_named_by_what_happened_to_it():
    assert others(FILES) == [("changed", "plots/a.csv"), ("added", "metrics/t.json")]
