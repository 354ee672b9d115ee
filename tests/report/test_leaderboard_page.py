import pandas as pd
import pytest
from made_up_board import accuracies, make_board, many_lines

from vanishing_variance.leaderboard import ablation, ceiling
from vanishing_variance.leaderboard.treatments import Treatment
from vanishing_variance.report.leaderboard import answer, page

SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" xmlns:dc="http://purl.org/dc/elements/1.1/">'
    "<dc:title>Lines</dc:title><dc:description>n = 6 seeds</dc:description></svg>"
)
NO_GAINS = pd.DataFrame(columns=ablation.COLUMNS)
CEILING = pd.DataFrame([("softmax", 0, 1.5e-6, 16384, 0.99, 0.98)], columns=ceiling.COLUMNS)


def board_of(means):
    """A board of both tasks with a step of 1.5; means at 16, 64, 256 and 16384 by line."""
    frames = [accuracies(line, of, task=task) for line, of in means.items() for task in ("argmax", "dictionary")]
    return make_board(*frames, lines=list(means)).assign(step=1.5)


def test_the_answer_counts_what_holds_on_every_task_and_names_the_best_beside_the_baseline():
    board = board_of(
        {"softmax": (0.99, 0.9, 0.8, 0.3), "best": (0.99, 0.98, 0.97, 0.96), "good": (0.99, 0.96, 0.95, 0.93)}
    )
    said = answer(board[board["rule"] == "trained"], longest=16)
    assert said.startswith(
        "Trained on up to 16 items, 2 of 3 treatments are at 90% or more on every task at 2^14 items. There best has 9"
    )
    assert "softmax has " in said
    assert "good" not in said


def test_a_line_that_holds_on_one_task_alone_is_not_counted():
    frames = [
        accuracies("softmax", (0.99, 0.9, 0.9, 0.95)),
        accuracies("softmax", (0.9, 0.9, 0.9, 0.2), task="dictionary"),
    ]
    board = make_board(*frames, lines=["softmax"])
    assert ", 0 of 1 treatments " in answer(board[board["rule"] == "trained"], longest=16)


def test_every_line_has_a_row_that_diverged_last():
    board, lines = many_lines(8)
    html = page(board.assign(step=1.0), NO_GAINS, CEILING, SVG, longest=16)
    places = [html.index(f'<th scope="row">{line}</th>') for line in lines]
    assert places[lines.index("broken")] == max(places)
    assert "argmax, 2<sup>14</sup> (%)" in html
    assert "The pieces of" not in html
    assert "1.5e−06" in html
    assert "<figcaption><b>Lines.</b> n = 6 seeds</figcaption>" in html


def test_the_pieces_of_a_line_are_a_table():
    settings = {"norm": "none", "decay": "none"}
    treatments = {
        "softmax": Treatment(attention="softmax", projection="mlp", **settings),
        "power": Treatment(attention="power", projection="mlp", **settings),
    }
    means = {"softmax": (1, 0.5, 0.5, 0.25), "power": (1, 0.75, 0.75, 0.75)}
    rows = pd.concat([accuracies(line, of, spread=0) for line, of in means.items()])
    html = page(board_of(means), ablation.ablation(rows, treatments, "power", 16), CEILING, SVG, longest=16)
    assert "The pieces of power (percentage points)" in html
    assert "attention: softmax → power" in html
    assert "+50.0 ± 0.0" in html


@pytest.mark.parametrize("lines", [4, 12])
def test_the_same_results_give_the_same_bytes(lines):
    board, _ = many_lines(lines)
    pages = {page(board.assign(step=1.0), NO_GAINS, CEILING, SVG, longest=16) for _ in "12"}
    assert len(pages) == 1
