import json
import re

import pandas as pd
import pytest
from made_up_board import accuracies, make_board, many_lines
from made_up_results import ROOT

from vanishing_variance.core.ranges import Range
from vanishing_variance.leaderboard import ablation, ceiling
from vanishing_variance.leaderboard.curves import curves
from vanishing_variance.leaderboard.treatments import Treatment
from vanishing_variance.report.leaderboard import Results, answer, page
from vanishing_variance.report.leaderboard_chart import chart
from vanishing_variance.report.rendering import script

SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" xmlns:dc="http://purl.org/dc/elements/1.1/">'
    "<dc:title>Lines</dc:title><dc:description>n = 6 seeds</dc:description></svg>"
)
NO_GAINS = pd.DataFrame(columns=ablation.COLUMNS)
TRAINED = Range(shortest=5, longest=16)
CEILING = pd.DataFrame([("softmax", 0, 1.5e-6, 16384, 0.99, 0.98)], columns=ceiling.COLUMNS)


def results(board, lines, **changes):
    """Contents of the page of a board with these lines, each with one accuracy by line, task, rule and length."""
    frames = [
        accuracies(line, (0.99, 0.9, 0.8, 0.7 - 0.01 * place), rule, task)
        for place, line in enumerate(lines)
        for task in ("argmax", "dictionary")
        for rule in ("trained", "hard")
    ]
    accuracy = curves(pd.concat(frames))
    return Results(
        **{"board": board, "accuracy": accuracy, "gains": NO_GAINS, "ceilings": CEILING, "picture": SVG}
        | {"trained": TRAINED}
        | changes
    )


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
    html = page(results(board.assign(step=1.0), lines))
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
    html = page(results(board_of(means), list(means), gains=ablation.ablation(rows, treatments, "power", 16)))
    assert "The pieces of power (percentage points)" in html
    assert "attention: softmax → power" in html
    assert "+50.0 ± 0.0" in html


@pytest.mark.parametrize("lines", [4, 12])
def test_the_same_results_give_the_same_bytes(lines):
    board, names = many_lines(lines)
    pages = {page(results(board.assign(step=1.0), names)) for _ in "12"}
    assert len(pages) == 1


def test_the_charts_document_and_script_stand_in_the_page_whole():
    board, lines = many_lines(6)
    made = results(board.assign(step=1.0), lines)
    html = page(made)
    [document] = re.findall(
        r'<script type="application/json" id="leaderboard-chart-specification">(.*?)</script>', html
    )
    assert json.loads(document) == chart(made.accuracy, made.board, made.trained)
    [code] = re.findall(r'<script type="module">\n(.*?)\n</script>', html, re.DOTALL)
    assert code == script()
    section = html.partition('<section id="leaderboard">')[2].partition("</section>")[0]
    assert document in section
    assert code not in section


def test_links_to_files_of_the_repository_are_right():
    board, lines = many_lines(4)
    links = set(re.findall(r'href="\.\./\.\./([^"]+)"', page(results(board.assign(step=1.0), lines))))
    assert links == {"metrics/leaderboard/board.md", "metrics/leaderboard/accuracy.csv", "docs/leaderboard.md"}
    declared = (ROOT / "leaderboard/dvc.yaml").read_text()
    assert all(link in declared or (ROOT / link).exists() for link in links)
