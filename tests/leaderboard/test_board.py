import numpy as np
import pandas as pd
import pytest
from made_up_board import accuracies, every_state, make_board
from scipy import stats
from statsmodels.stats.multitest import multipletests

from vanishing_variance.harness.errors import InputError
from vanishing_variance.leaderboard.board import summary
from vanishing_variance.leaderboard.learned import learned
from vanishing_variance.leaderboard.standings import standings
from vanishing_variance.leaderboard.tables import board_table, learned_table
from vanishing_variance.statistics.intervals import interval

MEANS = {"softmax": (0.99, 0.95, 0.8, 0.3), "ssmax": (0.99, 0.96, 0.85, 0.35), "sparse": (0.99, 0.92, 0.9, 0.91)}
SOFTMAX, SSMAX, SPARSE = FRAMES = [accuracies(line, means) for line, means in MEANS.items()]
LINES = list(MEANS)


def beyond(frame):
    """Return each seed's mean over the lengths beyond training, in percent."""
    return 100 * frame[frame["length"] > 16].groupby("seed")["accuracy"].mean().to_numpy()


def at(frame, length):
    """Return each seed's accuracy at a length, in percent."""
    return 100 * frame.loc[frame["length"] == length, "accuracy"].to_numpy()


def one(board, line, rule="plain", task="argmax"):
    return board.set_index(["task", "line", "rule"]).loc[(task, line, rule)]


def check_interval(row, name, values):
    found = row[[name, f"{name}_low", f"{name}_high"]].tolist()
    assert found == pytest.approx(interval(values), abs=1e-6)


def test_a_row_holds_means_over_seeds_with_their_intervals():
    hard = accuracies("ssmax", (0.9, 0.8, 0.7, 0.6), "hard")
    board = make_board(*FRAMES, hard, lines=LINES)
    row = one(board, "ssmax")
    assert (row["attention"], row["n"], row["state"]) == ("softmax", 6, "ok")
    check_interval(row, "beyond", beyond(SSMAX))
    check_interval(row, "accuracy_256", at(SSMAX, 256))
    assert row["target_weight"] == pytest.approx(1 / 16384 + 0.0025, abs=1e-6)
    assert row["variance_ratio"] == pytest.approx(16 / 16384, abs=1e-6)
    assert row["hard"] == pytest.approx(at(hard, 16384).mean(), abs=1e-6)
    assert np.isnan(one(board, "softmax")["hard"])


def test_differences_are_paired_with_the_baseline_and_adjusted_over_the_task():
    adaptive = accuracies("softmax", MEANS["ssmax"], "adaptive")
    board = make_board(*FRAMES, adaptive, lines=LINES)
    rows = [one(board, "ssmax"), one(board, "sparse"), one(board, "softmax", "adaptive")]
    base = beyond(SOFTMAX)
    p = []
    for row, frame in zip(rows, (SSMAX, SPARSE, adaptive), strict=True):
        differences = beyond(frame) - base
        check_interval(row, "difference", differences)
        assert row["d_z"] == pytest.approx(differences.mean() / differences.std(ddof=1), abs=1e-6)
        assert row["n_paired"] == 6
        p.append(stats.ttest_rel(beyond(frame), base).pvalue)
    assert [row["p"] for row in rows] == pytest.approx(p)
    _, adjusted, *_ = multipletests(p, method="holm")
    assert [row["p_holm"] for row in rows] == pytest.approx(adjusted)
    assert board.loc[board["baseline"], "line"].tolist() == ["softmax"]
    assert np.isnan(one(board, "softmax")["difference"])


def test_rows_of_all_rules_are_ranked_together_by_task_and_lines_by_their_weaker_task():
    hard = accuracies("ssmax", (0.99,) * 4, "hard")
    dictionary = [accuracies(line, (0.9,) * 4, task="dictionary") for line in ("softmax", "ssmax")]
    worst = accuracies("sparse", (0.2,) * 4, task="dictionary")
    board = make_board(*FRAMES, hard, *dictionary, worst, lines=LINES)
    argmax = board[board["task"] == "argmax"]
    assert argmax["rank"].tolist() == [1, 2, 3, 4]
    assert argmax["line"].tolist() == ["ssmax", "sparse", "ssmax", "softmax"]
    assert [one(board, line)["overall_rank"] for line in LINES] == [2, 1, 3]
    assert one(board, "ssmax")["overall"] == one(board, "ssmax")["beyond"]
    assert one(board, "sparse")["overall"] == one(board, "sparse", task="dictionary")["beyond"]
    assert pd.isna(one(board, "ssmax", "hard")["overall_rank"])


@pytest.mark.parametrize(
    ("means", "longest", "state"),
    [
        ((1, 0.95, 0.8999, 0.95), 64, "ok"),
        ((0.2, 1, 1, 1), None, "ok"),
        ((0.12, 1, 1, 1), None, "at chance"),  # as of 512 sequences 12% often are of one class of ten
    ],
)
def test_the_longest_length_with_90_percent_there_and_at_all_shorter_ones_and_the_state(means, longest, state):
    row = one(make_board(accuracies("softmax", means, spread=0), lines=["softmax"]), "softmax")
    assert row["state"] == state
    assert pd.isna(row["longest_90"]) if longest is None else row["longest_90"] == longest


def test_a_mean_that_is_90_but_for_its_last_bit_is_90():
    frame = accuracies("softmax", (1, 1, 1, 1), seeds=range(10))
    correct = np.array([438, 487, 413, 457, 472, 484, 452, 437, 431, 429])  # 4,500 of 5,000
    frame.loc[frame["length"] == 16384, "accuracy"] = correct / 500
    assert one(make_board(frame, lines=["softmax"]), "softmax")["longest_90"] == 16384


def test_a_diverged_line_is_shown_last_and_takes_part_in_no_test():
    board = make_board(SOFTMAX, SSMAX, lines=LINES, diverged={("argmax", "sparse"): "seed 3, step 70"})
    assert board["line"].tolist() == ["ssmax", "softmax", "sparse"]
    row = one(board, "sparse")
    assert (row["state"], row["note"]) == ("diverged", "seed 3, step 70")
    assert row[["rank", "n", "beyond", "p_holm", "overall"]].isna().all()
    assert one(board, "ssmax")["p_holm"] == one(board, "ssmax")["p"]
    means = summary(board)["argmax"]
    assert means["softmax"] == pytest.approx(beyond(SOFTMAX).mean(), abs=0.01)
    assert means["sparse"] is None


def test_without_a_length_beyond_training_there_is_no_board():
    with pytest.raises(InputError, match=r"no test length is above 16384, the longest in training; see test\.lengths"):
        make_board(*FRAMES, lines=LINES, longest=16384)


def test_a_rank_is_as_uncertain_as_the_tests_between_all_pairs_leave_it():
    of_seeds = np.arange(6.0)  # which pairing takes out
    noise = np.array([0.1, -0.1, 0.1, -0.1, 0.1, -0.1])
    scores = pd.DataFrame({"worst": of_seeds, "one": of_seeds + 9 - noise, "other": of_seeds + 9.01 + noise})
    assert standings(scores).to_numpy().tolist() == [[3, 3, 3], [2, 1, 2], [1, 1, 2]]


def test_a_difference_between_two_may_be_none_among_three():
    base = np.arange(6.0)
    two = pd.DataFrame({"base": base, "ahead": base + np.array([1, 1, 1, 1, 1, -0.6])})  # p = 0.04
    assert standings(two)["rank_low"].tolist() == [2, 1]
    three = two.assign(third=base + np.array([1, -1, 1, -1, 1, -1]))
    assert standings(three)["rank_low"].tolist() == [1, 1, 1]


def test_columns_that_are_all_100_percent_cannot_be_told_apart():
    full = np.full(6, 100.0)
    scores = pd.DataFrame({"low": 90 + np.arange(6) / 10, "one": full, "other": full * (1 - 2.0**-52)})
    assert standings(scores).to_numpy().tolist() == [[3, 3, 3], [1, 1, 2], [1, 1, 2]]


def cells(text, name):
    """Return the cells of the one row that begins with a name."""
    [row] = [line for line in text.splitlines() if line.startswith(f"| {name} ")]
    return [cell.strip() for cell in row.split("|")[2:-1]]


def test_every_line_has_a_row_whatever_its_state():
    board, lines = every_state()
    text = board_table(board)
    for line in lines:
        assert len(cells(text, line)) == 7
    assert cells(text, "broken")[:4] == ["–", "diverged", "–", "–"]
    assert cells(text, "constant")[1] == "at chance"
    assert "nan" not in text.lower()


def test_the_parameters_of_the_maps_are_means_over_seeds_by_task():
    weights = {("power", "argmax"): {"map.exponent": np.array([[1.0], [2.0], [3.0]])}}
    weights["ssmax", "dictionary"] = {"map.scale": np.ones((3, 1)), "head.2.bias": np.ones((3, 1))}
    text = learned_table(learned(weights))
    assert cells(text, "power: exponent") == ["3", "2.00 [-0.48, 4.48]", "–"]
    assert cells(text, "ssmax: scale") == ["3", "–", "1.00 [1.00, 1.00]"]
