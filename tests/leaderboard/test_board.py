import numpy as np
import pandas as pd
import pytest
from made_up_board import accuracies, make_board, many_lines
from scipy import stats
from statsmodels.stats.multitest import multipletests

from vanishing_variance.harness.errors import InputError
from vanishing_variance.leaderboard import board_table
from vanishing_variance.leaderboard.board import summary
from vanishing_variance.leaderboard.standings import standings
from vanishing_variance.statistics.intervals import interval

ONE = {"argmax": 10}
MEANS = {"softmax": (0.99, 0.95, 0.8, 0.3), "ssmax": (0.99, 0.96, 0.85, 0.35), "sparse": (0.99, 0.92, 0.9, 0.91)}
LINES = list(MEANS)


def frames(**how):
    return [accuracies(line, means, **how) for line, means in MEANS.items()]


def beyond(frame):
    """Each seed's mean over the lengths beyond training, in percent."""
    return 100 * frame[frame["length"] > 16].groupby("seed")["accuracy"].mean()


def one(board, line, rule="trained", task="argmax"):
    [row] = board.query("line == @line and rule == @rule and task == @task").to_dict("records")
    return row


def test_a_row_holds_means_over_seeds_with_their_intervals():
    of = frames()
    hard = accuracies("ssmax", (0.9, 0.8, 0.7, 0.6), rule="hard")
    board = make_board(*of, hard, lines=LINES, classes=ONE)
    row = one(board, "ssmax")
    assert (row["attention"], row["norm"], row["n"], row["state"]) == ("softmax", "none", 6, "ok")
    expected = interval(beyond(of[1]).to_numpy())
    assert [row[f"beyond{end}"] for end in ("", "_low", "_high")] == pytest.approx(expected, abs=1e-6)
    at_256 = 100 * of[1].query("length == 256")["accuracy"].to_numpy()
    assert [row[f"accuracy_256{end}"] for end in ("", "_low", "_high")] == pytest.approx(interval(at_256), abs=1e-6)
    assert row["target_weight"] == pytest.approx(1 / 16384 + 0.0025, abs=1e-6)
    assert row["variance_ratio"] == pytest.approx(16 / 16384, abs=1e-6)
    assert row["hard"] == pytest.approx(100 * hard.query("length == 16384")["accuracy"].mean(), abs=1e-6)
    assert np.isnan([one(board, "softmax")["hard"], one(board, "ssmax", "hard")["hard"]]).all()


def test_differences_are_paired_with_the_baseline_and_adjusted_over_the_task():
    of = [*frames(), accuracies("softmax", MEANS["ssmax"], rule="adaptive", seeds=range(2, 9))]
    board = make_board(*of, lines=LINES, classes=ONE)
    rows = [one(board, "ssmax"), one(board, "sparse"), one(board, "softmax", "adaptive")]
    base, p = beyond(of[0]), []
    for row, frame in zip(rows, of[1:], strict=True):
        both = pd.concat([beyond(frame), base], axis=1, join="inner").to_numpy().T
        differences = both[0] - both[1]
        found = [row[f"difference{end}"] for end in ("", "_low", "_high")]
        assert found == pytest.approx(interval(differences), abs=1e-6)
        assert row["d_z"] == pytest.approx(differences.mean() / differences.std(ddof=1), abs=1e-6)
        p.append(stats.ttest_rel(*both).pvalue)
    assert [row["n_paired"] for row in rows] == [6, 6, 4]
    assert [row["p"] for row in rows] == pytest.approx(p)
    assert [row["p_holm"] for row in rows] == pytest.approx(multipletests(p, method="holm")[1])
    assert list(board.loc[board["baseline"], "line"]) == ["softmax"]
    assert np.isnan([one(board, "softmax")[name] for name in ("difference", "p_holm")]).all()


def test_rows_of_all_rules_are_ranked_together_by_task_and_lines_by_their_weaker_task():
    of = [*frames(), accuracies("ssmax", (0.99,) * 4, rule="hard")]
    high, low = (0.9,) * 4, (0.2,) * 4
    other = [accuracies(line, low if line == "sparse" else high, task="dictionary") for line in LINES]
    board = make_board(*of, *other, lines=LINES)
    rows = board[board["task"] == "argmax"]
    assert list(rows["rank"]) == [1, 2, 3, 4]
    assert list(rows["line"]) == ["ssmax", "sparse", "ssmax", "softmax"]
    scores = {(frame["line"].iloc[0], frame["rule"].iloc[0]): beyond(frame) for frame in of}
    bounds = {key: (place.low, place.high) for key, place in standings(scores).items()}
    assert rows.set_index(["line", "rule"])[["rank_low", "rank_high"]].apply(tuple, axis=1).to_dict() == bounds
    assert [one(board, line)["overall_rank"] for line in LINES] == [2, 1, 3]
    for line in LINES:
        assert one(board, line)["overall"] == min(
            one(board, line, task=task)["beyond"] for task in ("argmax", "dictionary")
        )
    assert board.loc[board["rule"] == "hard", ["overall", "overall_rank"]].isna().all(axis=None)


@pytest.mark.parametrize(
    ("means", "longest", "state"),
    [
        ((1, 0.95, 0.8999, 0.95), 64, "ok"),
        ((0.2, 1, 1, 1), None, "ok"),
        ((0.12, 1, 1, 1), None, "at chance"),  # as of 512 sequences 12% often are of one class of ten
    ],
)
def test_the_longest_length_with_90_percent_there_and_at_all_shorter_ones_and_the_state(means, longest, state):
    [row] = make_board(accuracies("softmax", means, spread=0), lines=["softmax"], classes=ONE).to_dict("records")
    assert row["state"] == state
    assert pd.isna(row["longest_90"]) if longest is None else row["longest_90"] == longest


def test_a_mean_that_is_90_but_for_its_last_bit_is_90():
    frame = accuracies("softmax", (1, 1, 1, 1), seeds=range(10))
    correct = np.array([438, 487, 413, 457, 472, 484, 452, 437, 431, 429])  # 4,500 of 5,000
    frame.loc[frame["length"] == 16384, "accuracy"] = correct / 500
    assert list(make_board(frame, lines=["softmax"], classes=ONE)["longest_90"]) == [16384]


def test_equal_rows_share_a_rank_and_one_seed_has_no_interval_and_no_test():
    of = [accuracies(line, (1, 1, 1, 1), spread=0) for line in LINES]
    board = make_board(*of, lines=LINES, classes=ONE)
    assert board[["rank", "rank_low", "rank_high"]].to_numpy().tolist() == [[1, 1, 3]] * 3
    assert board.loc[1:, ["difference", "p", "p_holm"]].to_numpy().tolist() == [[0, 1, 1]] * 2
    board = make_board(*frames(seeds=[4]), lines=LINES, classes=ONE)
    assert board[["beyond_low", "difference_low", "p", "accuracy_16_high"]].isna().all(axis=None)
    assert board[["rank", "rank_low", "rank_high"]].to_numpy().tolist() == [[1, 1, 3], [2, 1, 3], [3, 1, 3]]


def test_a_diverged_line_is_shown_last_and_takes_part_in_no_test():
    of = frames()[:2]
    board = make_board(*of, lines=LINES, classes=ONE, diverged={("argmax", "sparse"): "seed 3, step 70"})
    assert list(board["line"]) == ["ssmax", "softmax", "sparse"]
    row = one(board, "sparse")
    assert (row["state"], row["note"], row["attention"]) == ("diverged", "seed 3, step 70", "softmax")
    numbers = ("rank", "rank_low", "n", "beyond", "p_holm", "overall", "accuracy_16")
    assert pd.isna([row[name] for name in numbers]).all()
    assert board["rank_high"].max() == 2
    assert one(board, "ssmax")["p_holm"] == one(board, "ssmax")["p"]
    expected = {line: round(float(beyond(frame).mean()), 2) for line, frame in zip(LINES, of, strict=False)}
    assert summary(board) == {"argmax": expected | {"sparse": None}}
    board = make_board(*frames()[1:], lines=LINES, classes=ONE, diverged={("argmax", "softmax"): "nan"})
    assert list(board["rank"][:2]) == [1, 2]
    assert board["difference"].isna().all()
    everything = {("argmax", line): "nan" for line in LINES}
    assert list(make_board(lines=LINES, classes=ONE, diverged=everything)["state"]) == ["diverged"] * 3


def test_a_line_without_results_or_tested_elsewhere_is_refused():
    with pytest.raises(InputError, match="argmax, sparse: was neither tested nor diverged in training"):
        make_board(*frames()[:2], lines=LINES, classes=ONE)
    for shorter in ("length < 16384", "length < 16384 or seed > 0"):
        of = frames()
        of[1] = of[1].query(shorter)
        with pytest.raises(InputError, match="ssmax, trained: was not tested with every seed at the lengths of"):
            make_board(*of, lines=LINES, classes=ONE)


def test_every_line_is_in_each_table_whatever_its_state():
    board, lines = many_lines(6)
    text = board_table.markdown(board.assign(step=float("nan")))
    argmax, dictionary, overall = text.split("\n## ")[1:]
    for section in (argmax, dictionary, overall):
        assert all(f"| {line} |" in section for line in lines if line != "softmax")
        assert "| softmax (baseline) |" in section
    [broken] = [row for row in argmax.splitlines() if "| broken |" in row]
    assert broken.startswith("| – | broken | trained |")
    assert broken.endswith("| – | diverged |")
    assert "| at chance |" in argmax
    assert "seed 1 diverged at step 7" in text
    assert "nan" not in text.lower()
