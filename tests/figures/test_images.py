import os
import random
import subprocess
import sys

import matplotlib as mpl

from vanishing_variance.figures import style
from vanishing_variance.figures.drawing import Drawing, write_figure

DRAW = """
from pathlib import Path
from vanishing_variance.figures import style
from vanishing_variance.figures.drawing import Drawing, write_figure
figure = style.figure(2)
figure.subplots().plot([1, 2], [1, 2], label="a line")
style.legend_above(figure, 1)
write_figure(Path("one"), Drawing(figure, "Title", "Words."))
"""
# Of a user; without LaTeX the first of them would end the drawing.
SETTINGS = {"text.usetex": True, "font.size": 20, "axes.facecolor": "black", "lines.linewidth": 9, "savefig.dpi": 50}


def drawn(folder, environment):
    subprocess.run([sys.executable, "-c", DRAW], cwd=folder, env=environment, check=True)
    return (folder / "one.png").read_bytes()


def test_a_figure_is_the_same_whatever_the_user_has_set_for_matplotlib(tmp_path, monkeypatch):
    """In a matplotlibrc; in code that imports ours; and a notebook's backend, which is not installed here."""
    (tmp_path / "matplotlibrc").write_text("".join(f"{name}: {value}\n" for name, value in SETTINGS.items()))
    there = os.pathsep.join(sys.path)
    ours = drawn(tmp_path, {**os.environ, "PYTHONPATH": there, "MPLBACKEND": "module://a_notebook.backend"})
    (tmp_path / "matplotlibrc").unlink()
    monkeypatch.chdir(tmp_path)
    for settings in ({}, SETTINGS):
        with mpl.rc_context(settings):
            exec(DRAW, {})
        assert (tmp_path / "one.png").read_bytes() == ours


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
