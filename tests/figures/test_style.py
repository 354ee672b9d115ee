import random
from string import ascii_lowercase

import matplotlib as mpl
import pandas as pd
import pytest
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure

from vanishing_variance.figures import style, variants
from vanishing_variance.figures.drawing import Drawing
from vanishing_variance.figures.images import write_figure
from vanishing_variance.report.figures import figure as shown
from vanishing_variance.study.markdown import drawn_power


def test_panels_are_lettered_in_order_and_more_than_26_too():
    panels = Figure().subplots(4, 7).ravel()
    style.letter(panels, [f"panel {place}" for place in range(28)])
    titles = [axes.get_title(loc="left") for axes in panels]
    assert titles[:2] == ["(a) panel 0", "(b) panel 1"]
    assert [title.partition(")")[0][1:] for title in titles] == [*ascii_lowercase, "aa", "ab"]
    with pytest.raises(ValueError, match="zip"):
        style.letter(panels, ["one title"])


def test_variants_differ_in_colour_and_in_black_and_white():
    names = ("none", "ln", "std", "rms", "some-other")
    looks = [variants.look(norm) for norm in names]
    for part in ("color", "linestyle", "marker"):
        assert len({str(look[part]) for look in looks}) == len(looks)
    assert {look["color"] for look in looks}.isdisjoint(look["color"] for look in style.SERIES)
    assert [variants.colour(norm) for norm in names] == [look["color"] for look in looks]


def test_seeds_are_one_number_or_the_fewest_and_the_most():
    assert variants.seeds(pd.Series([2, 2])) == "2"
    assert variants.seeds(pd.Series([8, 2, 4])) == "2 to 8"


def luminance(colour):
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def test_lines_are_not_too_pale_on_white():
    """A contrast of 3 to 1, as the Web Content Accessibility Guidelines ask of graphics (WCAG 2.1, 1.4.11)."""
    assert all(1.05 / (luminance(look["color"]) + 0.05) >= 3 for look in style.SERIES)


def test_text_is_between_7_and_9_points():
    sizes = ["font.size", "axes.titlesize", "axes.labelsize", "figure.labelsize"]
    assert all(7 <= mpl.rcParams[name] <= 9 for name in sizes)
    # Those are in terms of font.size where nothing else is said.
    assert {mpl.rcParams[f"{name}.labelsize"] for name in ("xtick", "ytick")} == {"medium"}


def test_lengths_are_powers_of_two_where_they_are():
    assert [style.power(n) for n in (1, 16, 16384, 100)] == ["$2^{0}$", "$2^{4}$", "$2^{14}$", "100"]
    assert [drawn_power(n) for n in (1, 16, 16384, 100)] == ["2⁰", "2⁴", "2¹⁴", "100"]


@pytest.mark.parametrize("count", [3, 6, 7, 10, 11])
def test_the_shortest_and_the_longest_length_are_labelled(count):
    axes = Figure().subplots()
    style.length_axis(axes, [2**k for k in range(4, 4 + count)])
    labels = axes.xaxis.get_major_formatter().format_ticks(axes.get_xticks())
    assert (labels[0], labels[-1]) == ("$2^{4}$", f"$2^{{{3 + count}}}$")


def test_the_png_has_its_words_below_panels_of_the_same_size(tmp_path):
    figure = style.figure(2)
    axes = figure.subplots()
    axes.set_xlabel("x")
    words = "A caption of $5 & <σ_d²>. " * 20
    figure.draw_without_rendering()
    before = axes.get_window_extent().size
    with style.text_below(figure, words):
        figure.draw_without_rendering()
        [below] = figure.texts
        box = below.get_window_extent()
        assert axes.get_window_extent().size == pytest.approx(before, abs=2)
        assert axes.xaxis.label.get_window_extent().y0 > box.y1
        assert box.y0 >= 0
        assert box.x1 <= figure.bbox.x1
    assert not figure.texts
    assert figure.get_size_inches().tolist() == [style.WIDTH, 2]
    write_figure(tmp_path / "one", Drawing(figure, "Title & <b>", words))
    found = shown("one", (tmp_path / "one.svg").read_text(encoding="utf-8"))
    assert (found.title, found.caption) == ("Title & <b>", words)
    assert figure.get_size_inches().tolist() == [style.WIDTH, 2]


def test_a_figure_has_the_same_bytes_wherever_its_objects_lie_in_memory(tmp_path):
    """The solver of constrained layouts orders its variables by address."""
    rng, seen, kept = random.Random(0), set(), []
    for name in "abcdef":
        kept += [bytearray(rng.randint(10, 4000)) for _ in range(rng.randint(0, 20_000))]
        figure = style.figure(4)
        panels = figure.subplots(3, 4, sharex=True, sharey=True)
        for place, axes in enumerate(panels.flat):
            axes.fill_between([0, 1, 2], [0, place, 1], color="#0072B2", alpha=0.3)
            axes.label_outer()
        panels[0, 0].set_ylabel("feature")
        style.letter(panels.flat, (f"panel {place}" for place in range(12)))
        write_figure(tmp_path / name, Drawing(figure, "Title", "Words. " * 40))
        places = [end for axes in figure.axes for end in axes.get_position().bounds]
        assert places == pytest.approx([round(end, 6) for end in places], rel=0, abs=1e-12)
        seen.add(tuple((tmp_path / name).with_suffix(suffix).read_bytes() for suffix in (".png", ".svg")))
    assert len(seen) == 1


def test_the_svg_leaves_no_room_for_the_words_below_the_png(tmp_path):
    figure = style.figure(2)
    axes = figure.subplots()
    figure.draw_without_rendering()
    before = axes.get_position().bounds
    write_figure(tmp_path / "one", Drawing(figure, "Title", "Words. " * 100))
    assert axes.get_position().bounds == pytest.approx(before, abs=1e-3)
