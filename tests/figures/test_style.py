import random

import pytest

from vanishing_variance.figures import style
from vanishing_variance.figures.drawing import Drawing
from vanishing_variance.figures.images import write_figure
from vanishing_variance.report.figures import figure as shown


def test_a_figure_carries_its_words_and_keeps_its_size(tmp_path):
    figure, words = style.figure(2), "A caption of $5 & <σ_d²>. " * 20
    figure.subplots()
    write_figure(tmp_path / "one", Drawing(figure, "Title & <b>", words))
    found = shown("one", (tmp_path / "one.svg").read_text(encoding="utf-8"))
    assert (found.title, found.caption) == ("Title & <b>", words)
    assert figure.get_size_inches().tolist() == [style.WIDTH, 2]


def test_a_figure_has_the_same_bytes_wherever_its_objects_lie_in_memory(tmp_path):
    """The solver of constrained layouts orders its variables by address."""
    rng, seen, kept = random.Random(0), set(), []
    for name in "abc":
        kept += [bytearray(rng.randint(10, 4000)) for _ in range(rng.randint(0, 20_000))]
        figure = style.figure(2)
        panels = figure.subplots(2, 3, sharex=True, sharey=True)
        panels[0, 0].set_ylabel("feature")
        style.letter(panels.flat, map(str, range(6)))
        write_figure(tmp_path / name, Drawing(figure, "Title", "Words. " * 40))
        places = [end for axes in figure.axes for end in axes.get_position().bounds]
        assert places == pytest.approx([round(end, 6) for end in places], rel=0, abs=1e-12)
        seen.add(tuple((tmp_path / name).with_suffix(suffix).read_bytes() for suffix in (".png", ".svg")))
    assert len(seen) == 1
