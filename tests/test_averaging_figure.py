import pandas as pd
import pytest

from benchmarks import averaging, averaging_figure
from benchmarks.protocols import LENGTHS


def test_each_protocol_has_a_line_from_the_last_weights_to_the_mean_of_each_variant():
    accuracy = {("none", "last"): 0.5, ("ln", "last"): 0.6, ("none", "mean"): 0.8, ("ln", "mean"): 0.7}
    rows = [
        (task, "biases", norm, weights, seed, temperature, length, right, 0.1, 0.1)
        for task, seeds in (("dictionary", 4), ("argmax", 3))
        for (norm, weights), of in accuracy.items()
        for seed in range(seeds)
        for length in LENGTHS
        for temperature, right in (("plain", of if length > 16 else 1.0), ("adaptive", 0.9))
    ]
    drawing = averaging_figure.draw(pd.DataFrame(rows, columns=averaging.COLUMNS))
    [axes] = drawing.figure.axes
    assert [text.get_text() for text in axes.get_yticklabels()] == ["dictionary: biases", "argmax: biases"]
    between = [line.get_xdata() for line in axes.lines if len(line.get_xdata()) == 2 and line.get_linewidth() == 0.8]
    assert [[*of] for of in between] == [pytest.approx([50, 80]), pytest.approx([60, 70])] * 2
    assert "over 3 to 4 seeds" in drawing.caption
