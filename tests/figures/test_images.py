import random

from PIL import Image

from vanishing_variance.figures import style
from vanishing_variance.figures.drawing import Drawing, write_figure
from vanishing_variance.report.page import read_figure


def test_a_figure_carries_its_words_and_has_the_pixels_of_a_dense_screen(tmp_path):
    figure, words = style.figure(2), "A caption of $5 & <σ_d²>. " * 20
    figure.subplots()
    write_figure(tmp_path / "one", Drawing(figure, "Title & <b>", words))
    shown = read_figure(tmp_path / "one.png", tmp_path / "page/index.html")
    assert (shown.title, shown.caption, shown.address) == ("Title & <b>", words, "../one.png")
    with Image.open(tmp_path / "one.png") as picture:
        assert picture.size == (1728, 512)


def test_a_figure_has_the_same_bytes_wherever_its_objects_lie_in_memory(tmp_path):
    """The solver of constrained layouts orders its variables by address."""
    rng = random.Random(0)
    written, kept = set(), []
    for name in "abc":
        kept += [bytearray(rng.randint(10, 4000)) for _ in range(rng.randint(0, 20_000))]
        figure = style.figure(2)
        panels = figure.subplots(2, 3, sharex=True, sharey=True)
        panels[0, 0].set_ylabel("feature")
        style.letter(panels.flat)
        write_figure(tmp_path / name, Drawing(figure, "Title", "Words."))
        written.add((tmp_path / f"{name}.png").read_bytes())
    assert len(written) == 1
