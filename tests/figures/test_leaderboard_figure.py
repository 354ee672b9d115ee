import pytest
from made_up_board import every_state

from vanishing_variance.figures.leaderboard import draw


def test_every_line_has_its_mark_and_interval_or_words_and_the_best_is_at_the_top():
    board, lines = every_state()
    rows = board.set_index(["task", "rule", "line"])
    for axes, task in zip(draw(board).figure.axes, ("argmax", "dictionary"), strict=True):
        names = axes.yaxis.get_major_formatter().format_ticks(axes.get_yticks())
        assert names == ["other", "softmax", "one", "constant", "broken"]
        marked = set()
        for container in axes.containers:
            marks, _, [bars] = container.lines
            for (x, place), bar in zip(marks.get_xydata(), bars.get_segments(), strict=True):
                line = names[int(place)]
                expected = rows.loc[task, "trained", line]
                assert [x, *bar[:, 0]] == pytest.approx(expected[["beyond", "beyond_low", "beyond_high"]].tolist())
                assert (container.get_label() == "baseline") == (line == "softmax")
                marked.add(line)
        [hard] = [line for line in axes.get_lines() if line.get_label() == "hard attention"]
        for x, place in hard.get_xydata():
            assert x == rows.loc[task, "hard", names[int(place)]]["beyond"]
        words = {names[int(text.get_position()[1])]: text.get_text() for text in axes.texts}
        assert marked | set(words) == set(lines)
        assert words["constant"] == "at chance"
        assert words.get("broken") == ("diverged" if task == "argmax" else None)
