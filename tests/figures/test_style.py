import random

import pandas as pd
import pytest
from matplotlib.figure import Figure

from vanishing_variance.figures import style, variants
from vanishing_variance.figures.drawing import Drawing
from vanishing_variance.figures.images import write_figure
from vanishing_variance.report.figures import figure as shown

# Of Okabe and Ito (2008): they differ for the colour-blind.
OKABE_ITO = {"#000000", "#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7"}


def test_variants_are_in_a_palette_for_the_colour_blind_and_differ_in_black_and_white():
    looks = [variants.look(norm) for norm in ("none", "ln", "std", "rms")]
    assert {look["color"] for look in looks} < OKABE_ITO
    for of in ([*looks, variants.look("some-other")], style.SERIES):
        for part in ("color", "marker"):
            assert len({look[part] for look in of}) == len(of)


def test_roles_are_the_means_over_seeds_of_none_and_the_treatment():
    rows = [(norm, seed, step, step + 2 * seed) for norm in ("none", "rms") for seed in range(2) for step in (1, 2)]
    wide = variants.roles(pd.DataFrame(rows, columns=["norm", "seed", "step", "loss"]), "step", "loss", "rms")
    assert wide.to_dict("list") == {"step": [1, 2], "none": [2, 3], "norm": [2, 3]}


@pytest.mark.parametrize("count", [3, 7, 10, 11])
def test_the_shortest_and_the_longest_length_are_labelled(count):
    axes = Figure().subplots()
    style.length_axis(axes, [2**k for k in range(4, 4 + count)])
    labels = axes.xaxis.get_major_formatter().format_ticks(axes.get_xticks())
    assert (labels[0], labels[-1]) == ("$2^{4}$", f"$2^{{{3 + count}}}$")


def test_a_figure_carries_its_words_and_keeps_its_size(tmp_path):
    figure, words = style.figure(2), "A caption of $5 & <σ_d²>. " * 20
    axes = figure.subplots()
    figure.draw_without_rendering()
    before = axes.get_window_extent().size
    with style.text_below(figure, words):
        figure.draw_without_rendering()
        [below] = figure.texts
        assert axes.get_window_extent().size == pytest.approx(before, abs=2)
        assert axes.xaxis.get_tightbbox().y0 > below.get_window_extent().y1
        assert below.get_window_extent().y0 >= 0
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
