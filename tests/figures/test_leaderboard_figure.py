import pytest
from made_up_board import many_lines

from vanishing_variance.figures.leaderboard import draw


def marks(axes):
    """What a panel has: the mark and the interval of each line by what it is of, and the words for a mark."""
    lines = axes.yaxis.get_major_formatter().format_ticks(axes.get_yticks())
    found, ends = {}, {}
    for container in axes.containers:
        for point, bar in zip(container.lines[0].get_xydata(), container.lines[2][0].get_segments(), strict=True):
            found[lines[int(point[1])], container.get_label()] = point[0]
            ends[lines[int(point[1])]] = tuple(bar[:, 0])
    [hard] = [line for line in axes.get_lines() if line.get_label() == "hard attention"]
    found |= {(lines[int(y)], "hard"): x for x, y in hard.get_xydata()}
    return lines, found, ends, {lines[int(text.get_position()[1])]: text.get_text() for text in axes.texts}


def test_every_line_has_its_mark_and_interval_or_words_and_the_best_is_at_the_top():
    board, lines = many_lines(8)
    smallest = board[board["rule"] == "trained"].groupby("line")["beyond"].agg(lambda of: of.min(skipna=False))
    for axes, task in zip(draw(board).figure.axes, ("argmax", "dictionary"), strict=True):
        of = board[board["task"] == task].set_index(["line", "rule"])
        shown, found, ends, words = marks(axes)
        assert shown == smallest.sort_values(ascending=False).index.tolist()
        assert {line for line, _ in found} | set(words) == set(lines)
        for (line, label), x in found.items():
            assert x == of.loc[(line, "hard" if label == "hard" else "trained"), "beyond"]
            assert (label == "baseline") == (line == "softmax" and label != "hard")
        for line, bar in ends.items():
            assert bar == pytest.approx(of.loc[(line, "trained"), ["beyond_low", "beyond_high"]].tolist())
        if task == "argmax":
            assert words["broken"] == "diverged"
            assert f"{of.loc[('constant', 'trained'), 'beyond']:.1f}%" in words["constant"]
