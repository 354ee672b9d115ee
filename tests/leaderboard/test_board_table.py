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


def test_a_row_has_its_numbers_with_units_in_the_head():
    of = [
        accuracies("softmax", (1, 0.9, 0.8, 0.4), spread=0),
        accuracies("ssmax", (1, 1, 0.8, 0.45)),
        accuracies("softmax", (1, 1, 1, 1), rule="hard", spread=0),
    ]
    board = make_board(*of, lines=["softmax", "ssmax"], classes={"argmax": 10}).assign(step=1.25)
    head, align, *rows = tables(markdown(board))["argmax"]
    assert head[:4] == ["rank", "line", "test time", "attention, norm, projection, decay, steps"]
    assert head[4:9] == ["n", "beyond (%)", "difference (pp)", "d_z", "p (Holm)"]
    assert head[9:] == [
        *("2^4 (%)", "2^8 (%)", "2^14 (%)"),
        *("≥ 90% up to (items)", "target weight", "variance of O (×)"),
        *("hard attention (%)", "step (×)", "state"),
    ]
    assert [mark == "---" for mark in align] == [name in head[1:4] for name in head]
    hard, ssmax, softmax = (dict(zip(head, row, strict=True)) for row in rows)
    assert (hard["line"], hard["test time"], hard["state"]) == ("softmax", "hard", "ok")
    assert (hard["difference (pp)"], hard["d_z"], hard["p (Holm)"]) == ("+30.0 ± 0.0", "–", "< 0.001")
    assert (softmax["rank"], softmax["line"], softmax["beyond (%)"]) == ("3", "softmax (baseline)", "70.0 ± 0.0")
    assert (softmax["≥ 90% up to (items)"], softmax["hard attention (%)"]) == ("2^6", "100.0")
    assert (softmax["difference (pp)"], softmax["p (Holm)"]) == ("–", "–")
    row = board.set_index("line").loc["ssmax"]
    margin = (row["beyond_high"] - row["beyond_low"]) / 2
    assert ssmax["beyond (%)"] == f"{row['beyond']:.1f} ± {margin:.1f}"
    assert (ssmax["attention, norm, projection, decay, steps"], ssmax["n"]) == ("softmax, none, mlp, none, 1", "6")
    assert ssmax["step (×)"] == "1.2"
    assert (ssmax["p (Holm)"], ssmax["hard attention (%)"], ssmax["target weight"]) == ("< 0.001", "–", "0.00")


def test_p_values_and_ranks_that_the_data_do_not_tell():
    same = [accuracies(line, (1, 1, 1, 1), spread=0) for line in ("softmax", "ssmax")]
    low = accuracies("sparse", (1, 0.5, 0.5, 0.5))
    text = markdown(make_board(*same, low, lines=["softmax", "ssmax", "sparse"], classes={"argmax": 10}).assign(step=1))
    head, _, *rows = tables(text)["argmax"]
    assert [row[0] for row in rows] == ["1–2", "1–2", "3"]
    assert [row[head.index("p (Holm)")] for row in rows] == ["–", "1.000", "< 0.001"]
    assert [row[head.index("≥ 90% up to (items)")] for row in rows] == ["2^14", "2^14", "2^4"]
    for words in (
        "n seeds",
        "95% t interval",
        "Holm's method",
        "Rank 2–4: one row is significantly better",
        "α = 0.05",
    ):
        assert words in text


def test_every_line_is_in_each_table_whatever_its_state():
    board, lines = many_lines(6)
    text = markdown(board.assign(step=float("nan")))
    found = tables(text)
    assert list(found) == ["argmax", "dictionary", "Overall"]
    for _, _, *rows in found.values():
        assert {row[1].removesuffix(" (baseline)") for row in rows} == set(lines)
        assert {len(row) for row in rows} == {len(rows[0])}
    head, _, *rows = found["argmax"]
    assert rows[-1][:3] == ["–", "broken", "trained"]
    assert rows[-1][4:] == ["–"] * (len(head) - 5) + ["diverged"]
    assert {row[-1] for row in rows if row[1] == "constant"} == {"at chance"}
    assert "- broken diverged: seed 1 diverged at step 7" in text
    overall = found["Overall"][2:]
    assert [row[0] for row in overall] == ["1", "2", "3", "4", "5", "–"]
    assert overall[-1][3:5] == ["–", "–"]
    smaller = [float(row[3]) for row in overall[:-1]]
    assert smaller == sorted(smaller, reverse=True)
    beyond = [[float(cell.split()[0]) for cell in row[4:]] for row in overall[:-1]]
    assert smaller == [min(of) for of in beyond]
    assert "nan" not in text.lower()
