import re

from made_up_board import accuracies, make_board, many_lines

from vanishing_variance.leaderboard.board_table import markdown


def tables(text):
    """The rows of each table: texts by heading."""
    found = {}
    for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
        lines = [line for line in section.splitlines() if line.startswith("|")]
        found[section.partition("\n")[0]] = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return found


def test_the_cells_of_a_task():
    of = [
        accuracies("softmax", (1, 0.9, 0.8, 0.4), spread=0),
        accuracies("ssmax", (1, 1, 0.8, 0.45)),
        accuracies("softmax", (1, 1, 1, 1), rule="hard", spread=0),
        accuracies("sparse", (1, 1, 1, 1), spread=0),
    ]
    board = make_board(*of, lines=["softmax", "ssmax", "sparse"], classes={"argmax": 10}).assign(step=1.25)
    head, align, *rows = tables(markdown(board))["argmax"]
    assert [mark == "---" for mark in align] == [name in head[1:4] for name in head]
    by_name = [dict(zip(head, row, strict=True)) for row in rows]
    cells = {(cell["line"], cell["test time"]): cell for cell in by_name}
    hard, ssmax, softmax = cells["softmax", "hard"], cells["ssmax", "trained"], cells["softmax (baseline)", "trained"]
    assert (cells["sparse", "trained"]["rank"], hard["rank"], softmax["rank"]) == ("1–2", "1–2", "4")
    assert (hard["difference (pp)"], hard["d_z"], hard["p (Holm)"]) == ("+30.0 ± 0.0", "–", "< 0.001")
    assert (softmax["beyond (%)"], softmax["difference (pp)"], softmax["p (Holm)"]) == ("70.0 ± 0.0", "–", "–")
    assert (softmax["≥ 90% up to (items)"], softmax["hard attention (%)"]) == ("2^6", "100.0")
    assert (ssmax["n"], ssmax["step (×)"], ssmax["hard attention (%)"], ssmax["target weight"]) == (
        "6",
        "1.2",
        "–",
        "0.00",
    )


def test_every_line_is_in_each_table_whatever_its_state():
    board, lines = many_lines(6)
    text = markdown(board.assign(step=float("nan")))
    found = tables(text)
    assert list(found) == ["argmax", "dictionary", "Overall"]
    for _, _, *rows in found.values():
        assert {row[1].removesuffix(" (baseline)") for row in rows} == set(lines)
    head, _, *rows = found["argmax"]
    assert rows[-1] == ["–", "broken", "trained", rows[-1][3], *["–"] * (len(head) - 5), "diverged"]
    assert {row[-1] for row in rows if row[1] == "constant"} == {"at chance"}
    assert "- broken diverged: seed 1 diverged at step 7" in text
    overall = found["Overall"][2:]
    assert [row[0] for row in overall] == ["1", "2", "3", "4", "5", "–"]
    smaller = [float(row[3]) for row in overall[:-1]]
    assert smaller == [min(float(cell.split()[0]) for cell in row[4:]) for row in overall[:-1]]
    assert "nan" not in text.lower()
