from itertools import pairwise

import pytest
from made_up_board import accuracies, make_board, many_lines

from vanishing_variance.figures import variants
from vanishing_variance.figures.leaderboard import draw


def marks(axes):
    """The marks of a panel: position by line and label, and the words that stand for a mark by line."""
    places = dict(zip(map(float, axes.get_yticks()), labels(axes), strict=True))
    found = {}
    for container in axes.containers:
        points = container.lines[0]
        found |= {
            (places[y], container.get_label()): x for x, y in zip(points.get_xdata(), points.get_ydata(), strict=True)
        }
    [hard] = [line for line in axes.get_lines() if line.get_label() == "hard attention"]
    found |= {(places[y], "hard"): x for x, y in zip(hard.get_xdata(), hard.get_ydata(), strict=True)}
    return found, {places[text.get_position()[1]]: text.get_text() for text in axes.texts}


def labels(axes):
    return axes.yaxis.get_major_formatter().format_ticks(axes.get_yticks())


def test_every_line_has_a_mark_or_words_and_the_best_is_at_the_top():
    board, lines = many_lines(8)
    drawing = draw(board)
    figure = drawing.figure
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["(a) argmax", "(b) dictionary"]
    for axes in figure.axes:
        of = board[board["task"] == axes.get_title(loc="left")[4:]].set_index(["line", "rule"])["beyond"]
        found, words = marks(axes)
        assert {line for line, _ in found} | set(words) == set(lines) == set(labels(axes))
        for (line, label), x in found.items():
            assert x == of[line, "hard" if label == "hard" else "trained"]
            assert (label == "baseline") == (line == "softmax" and label != "hard")
        assert {line for line, label in found if label == "hard"} == {line for line, label in found if label != "hard"}
        assert axes.yaxis_inverted()
    smallest = board[board["rule"] == "trained"].groupby("line")["beyond"].agg(lambda of: of.min(skipna=False))
    assert labels(figure.axes[0]) == smallest.sort_values(ascending=False).index.tolist()
    left, right = figure.axes
    assert labels(left) == labels(right)
    assert left.get_xlim() == right.get_xlim()
    chance = board.query("line == 'constant' and rule == 'trained'")["beyond"].iloc[0]
    assert marks(figure.axes[0])[1] == {"broken": "diverged", "constant": f"at chance: {chance:.1f}%"}
    [baseline] = [one for one in figure.axes[0].containers if one.get_label() == "baseline"]
    assert baseline.lines[0].get_color() == variants.colour("none")
    assert "n = 6 seeds, with its 95% t interval" in drawing.caption


def test_the_bars_are_the_intervals():
    board = make_board(accuracies("softmax", (1, 0.9, 0.8, 0.5)), lines=["softmax"], classes={"argmax": 10})
    [_, baseline] = draw(board).figure.axes[0].containers
    ends = baseline.lines[2][0].get_segments()[0][:, 0]
    assert ends.tolist() == pytest.approx(board.loc[0, ["beyond_low", "beyond_high"]].tolist())


@pytest.mark.parametrize("count", [4, 25])
def test_labels_of_lines_do_not_overlap(count):
    board, _ = many_lines(count)
    figure = draw(board).figure
    figure.draw_without_rendering()
    for axes in figure.axes[:1]:
        boxes = [label.get_window_extent() for label in axes.get_yticklabels()]
        assert len(boxes) == count
        assert all(above.y0 >= below.y1 for above, below in pairwise(boxes))
        assert all(box.x0 >= 0 for box in boxes)


def test_the_interval_is_drawn_over_the_mark_of_hard_attention():
    board, _ = many_lines(8)
    axes = draw(board).figure.axes[0]
    [hard] = [line for line in axes.get_lines() if line.get_label() == "hard attention"]
    for container in axes.containers:
        _, caps, bars = container.lines
        assert len(caps) == 2
        assert all(part.get_zorder() > hard.get_zorder() for part in (*caps, *bars))


def test_the_caption_says_what_the_names_mean():
    lines = ["softmax", "direct-power"]
    board = make_board(*(accuracies(line, (1, 0.9, 0.8, 0.5)) for line in lines), lines=lines, classes={"argmax": 10})
    said = draw(board).caption.partition("In a line's name, ")[2]
    assert said.startswith("direct, queries, keys and values are of the features themselves")
    assert "power, softmax of the logits times a learned power of N" in said
    assert "cosine" not in said
    assert "In a line's name" not in draw(many_lines(4)[0]).caption


def test_one_seed_has_no_bars_and_a_line_without_hard_attention_no_hollow_mark():
    board = make_board(
        accuracies("softmax", (1, 0.9, 0.8, 0.5), seeds=[0]),
        accuracies("ssmax", (1, 0.9, 0.8, 0.6), seeds=[0]),
        accuracies("ssmax", (1, 0.9, 0.8, 0.7), rule="hard", seeds=[0]),
        lines=["softmax", "ssmax"],
        classes={"argmax": 10},
    )
    axes = draw(board).figure.axes[0]
    assert set(marks(axes)[0]) == {("ssmax", "as trained"), ("softmax", "baseline"), ("ssmax", "hard")}
    everything = make_board(lines=["softmax"], classes={"argmax": 10}, diverged={("argmax", "softmax"): "nan"})
    figure = draw(everything).figure
    figure.draw_without_rendering()
    assert marks(figure.axes[0]) == ({}, {"softmax": "diverged"})
