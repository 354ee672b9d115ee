import numpy as np
import pandas as pd
import pytest
from made_up_board import CLASSES, accuracies, make_board
from scipy import stats
from statsmodels.stats.multitest import multipletests

from vanishing_variance.core.errors import InputError
from vanishing_variance.leaderboard.board import summary
from vanishing_variance.leaderboard.rows import by_seed
from vanishing_variance.leaderboard.standings import standings
from vanishing_variance.statistics.intervals import interval

ONE = {"argmax": 10}
LINES = ["softmax", "ssmax", "sparse"]
MEANS = {"softmax": (0.99, 0.95, 0.8, 0.3), "ssmax": (0.99, 0.96, 0.85, 0.35), "sparse": (0.99, 0.92, 0.9, 0.91)}


def frames(**changes):
    return [accuracies(line, means) for line, means in (MEANS | changes).items()]


def beyond(frame):
    """Each seed's mean over the lengths beyond training, in percent."""
    return 100 * frame[frame["length"] > 16].groupby("seed")["accuracy"].mean()


def one(board, line, rule="trained", task="argmax"):
    [row] = board.query("line == @line and rule == @rule and task == @task").to_dict("records")
    return row


def test_a_row_holds_means_over_seeds_with_their_intervals():
    of = frames()
    board = make_board(*of, lines=LINES, classes=ONE)
    row = one(board, "ssmax")
    assert (row["attention"], row["norm"], row["projection"], row["decay"]) == ("softmax", "none", "mlp", "none")
    assert (row["n"], row["state"]) == (6, "ok")
    expected = interval(beyond(of[1]).to_numpy())
    assert [row[f"beyond{end}"] for end in ("", "_low", "_high")] == pytest.approx(expected, abs=1e-6)
    at_256 = 100 * of[1].query("length == 256")["accuracy"].to_numpy()
    assert [row[f"accuracy_256{end}"] for end in ("", "_low", "_high")] == pytest.approx(interval(at_256), abs=1e-6)
    assert row["target_weight"] == pytest.approx(1 / 16384 + 0.0025, abs=1e-6)
    assert row["variance_ratio"] == pytest.approx(16 / 16384, abs=1e-6)
    assert not {"accuracy_64", "accuracy_2048"} & set(board)


def test_differences_are_paired_with_the_baseline_and_adjusted_over_the_task():
    of = [*frames(), accuracies("softmax", MEANS["ssmax"], rule="adaptive", seeds=range(2, 9))]
    board = make_board(*of, lines=LINES, classes=ONE)
    rows = [one(board, "ssmax"), one(board, "sparse"), one(board, "softmax", "adaptive")]
    base, p = beyond(of[0]), []
    for row, frame in zip(rows, of[1:], strict=True):
        both = pd.concat([beyond(frame), base], axis=1, join="inner").to_numpy().T
        differences = both[0] - both[1]
        assert row["n_paired"] == len(differences)
        found = [row[f"difference{end}"] for end in ("", "_low", "_high")]
        assert found == pytest.approx(interval(differences), abs=1e-6)
        assert row["d_z"] == pytest.approx(differences.mean() / differences.std(ddof=1), abs=1e-6)
        p.append(stats.ttest_rel(*both).pvalue)
    assert rows[2]["n_paired"] == 4
    assert [row["p"] for row in rows] == pytest.approx(p)
    assert [row["p_holm"] for row in rows] == pytest.approx(multipletests(p, method="holm")[1])
    baseline = one(board, "softmax")
    assert baseline["baseline"]
    assert board["baseline"].sum() == 1
    assert np.isnan([baseline["difference"], baseline["p_holm"]]).all()


def test_rows_of_all_rules_are_ranked_together_by_task():
    of = [*frames(), accuracies("ssmax", (0.99,) * 4, rule="hard"), accuracies("softmax", (0.99,) * 4, rule="hard")]
    other = [accuracies(line, np.flip(means), task="dictionary") for line, means in MEANS.items()]
    board = make_board(*of, *other, lines=LINES)
    assert list(board["task"]) == ["argmax"] * 5 + ["dictionary"] * 3
    rows = board[board["task"] == "argmax"]
    assert list(rows["rank"]) == [1, 2, 3, 4, 5]
    assert rows["beyond"].is_monotonic_decreasing
    assert list(rows["rule"][:2]) == ["hard", "hard"]
    keys = [(frame["line"].iloc[0], frame["rule"].iloc[0]) for frame in of]
    expected = standings({key: beyond(frame) for key, frame in zip(keys, of, strict=True)})
    for row in rows.to_dict("records"):
        place = expected[row["line"], row["rule"]]
        assert (row["rank_low"], row["rank_high"]) == (place.low, place.high)
    assert list(board["rank"][5:]) == [1, 2, 3]


def test_hard_attention_is_the_ceiling_of_rows_as_trained_where_it_was_tested():
    hard = accuracies("ssmax", (0.9, 0.8, 0.7, 0.6), rule="hard")
    board = make_board(*frames(), hard, lines=LINES, classes=ONE)
    expected = 100 * hard.query("length == 16384")["accuracy"].mean()
    assert one(board, "ssmax")["hard"] == pytest.approx(expected, abs=1e-6)
    assert np.isnan([one(board, "softmax")["hard"], one(board, "ssmax", "hard")["hard"]]).all()
    assert np.isnan(one(board, "ssmax", "hard")["target_weight"])


@pytest.mark.parametrize(
    ("means", "longest"),
    [
        ((1, 0.95, 0.9, 0.5), 256),
        ((1, 0.95, 0.8999, 0.95), 64),
        ((0.8, 1, 1, 1), None),
        ((1, 1, 1, 1), 16384),
    ],
)
def test_the_longest_length_with_90_percent_there_and_at_all_shorter_ones(means, longest):
    board = make_board(accuracies("softmax", means, spread=0), lines=["softmax"], classes=ONE)
    assert list(board["longest_90"].astype(object).where(board["longest_90"].notna(), None)) == [longest]


def test_a_mean_that_is_90_but_for_its_last_bit_is_90():
    frame = accuracies("softmax", (1, 1, 1, 1), seeds=range(10))
    correct = np.array([438, 487, 413, 457, 472, 484, 452, 437, 431, 429])
    frame.loc[frame["length"] == 16384, "accuracy"] = correct / 500
    assert by_seed(frame)["softmax", "trained"].mean().iloc[-1] < 90
    assert list(make_board(frame, lines=["softmax"], classes=ONE)["longest_90"]) == [16384]


def test_equal_rows_share_a_rank_without_a_missing_number():
    of = [accuracies(line, (1, 1, 1, 1), spread=0) for line in LINES]
    board = make_board(*of, lines=LINES, classes=ONE)
    assert board[["rank", "rank_low", "rank_high"]].to_numpy().tolist() == [[1, 1, 3]] * 3
    assert list(board["line"]) == LINES
    assert board.loc[1:, ["difference", "p", "p_holm"]].to_numpy().tolist() == [[0, 1, 1]] * 2


def test_a_diverged_line_is_shown_last_and_takes_part_in_no_test():
    of = [frame for frame in frames() if frame["line"].iloc[0] != "sparse"]
    board = make_board(*of, lines=LINES, classes=ONE, diverged={("argmax", "sparse"): "seed 3, step 70"})
    assert list(board["line"]) == ["ssmax", "softmax", "sparse"]
    row = one(board, "sparse")
    assert (row["state"], row["note"], row["attention"]) == ("diverged", "seed 3, step 70", "softmax")
    numbers = ["rank", "rank_low", "rank_high", "n", "beyond", "p_holm", "overall", "accuracy_16", "longest_90"]
    assert board.set_index("line").loc["sparse", numbers].isna().all()
    assert board["rank_high"].max() == 2
    assert one(board, "ssmax")["p_holm"] == one(board, "ssmax")["p"]


def test_a_baseline_that_diverged_leaves_the_ranks_but_no_differences():
    board = make_board(*frames()[1:], lines=LINES, classes=ONE, diverged={("argmax", "softmax"): "nan"})
    assert list(board["rank"][:2]) == [1, 2]
    assert board["difference"].isna().all()
    everything = {(task, line): "nan" for task in CLASSES for line in LINES}
    assert list(make_board(lines=LINES, diverged=everything)["state"]) == ["diverged"] * 6


def test_a_line_no_better_than_guesses_at_the_shortest_length_is_at_chance():
    """Of 512 sequences, 12% are often of one class of ten; 20% never are."""
    lines = ["softmax", "constant", "poor"]
    of = [accuracies(line, (mean, 0.5, 0.5, 0.5)) for line, mean in zip(lines, (0.99, 0.12, 0.2), strict=True)]
    board = make_board(*of, lines=lines, classes=ONE)
    states = dict(zip(board["line"], board["state"], strict=True))
    assert states == {"softmax": "ok", "constant": "at chance", "poor": "ok"}
    assert board["rank"].notna().all()
    states = make_board(*of[:2], lines=lines[:2], classes={"argmax": 64})["state"]
    assert list(states) == ["ok", "ok"]


def test_overall_lines_are_ranked_by_their_weaker_task():
    argmax = frames()
    other = [accuracies(line, (0.9,) * 4, task="dictionary") for line in LINES[:2]]
    other += [accuracies("sparse", (0.2,) * 4, task="dictionary"), accuracies("ssmax", (1,) * 4, "hard", "dictionary")]
    board = make_board(*argmax, *other, lines=LINES)
    assert [one(board, line)["overall_rank"] for line in LINES] == [2, 1, 3]
    weaker = {line: (one(board, line)["beyond"], one(board, line, task="dictionary")["beyond"]) for line in LINES}
    assert [one(board, line, task="dictionary")["overall"] for line in LINES] == [min(weaker[line]) for line in LINES]
    assert board.loc[board["rule"] == "hard", ["overall", "overall_rank"]].isna().all(axis=None)
    partly = make_board(*argmax, *other[:2], lines=LINES, diverged={("dictionary", "sparse"): "nan"})
    assert partly.loc[partly["line"] == "sparse", "overall_rank"].isna().all()
    assert one(partly, "ssmax")["overall_rank"] == 1


def test_one_seed_has_no_interval_and_no_test():
    of = [accuracies(line, means, seeds=[4]) for line, means in MEANS.items()]
    board = make_board(*of, lines=LINES, classes=ONE)
    assert board[["beyond_low", "difference_low", "p", "accuracy_16_high"]].isna().all(axis=None)
    assert board[["rank", "rank_low", "rank_high"]].to_numpy().tolist() == [[1, 1, 3], [2, 1, 3], [3, 1, 3]]


def test_the_summary_is_small_and_finite():
    of = [*frames(), accuracies("ssmax", (1,) * 4, rule="hard")]
    diverged = {("dictionary", line): "nan" for line in LINES}
    expected = {line: round(float(beyond(frame).mean()), 2) for line, frame in zip(LINES, of, strict=False)}
    found = summary(make_board(*of, lines=LINES, diverged=diverged))
    assert found == {"argmax": expected, "dictionary": dict.fromkeys(LINES)}
    assert list(found["argmax"]) == sorted(LINES)


def test_a_line_without_results_or_tested_elsewhere_is_refused():
    with pytest.raises(InputError, match="argmax, sparse: was neither tested nor diverged in training"):
        make_board(*frames()[:2], lines=LINES, classes=ONE)
    shorter = frames()
    shorter[1] = shorter[1].query("length < 16384")
    with pytest.raises(InputError, match="ssmax, trained: was not tested with every seed at the lengths of the others"):
        make_board(*shorter, lines=LINES, classes=ONE)
    shorter[1] = frames()[1].query("length < 16384 or seed > 0")
    with pytest.raises(InputError, match="ssmax, trained: was not tested with every seed"):
        make_board(*shorter, lines=LINES, classes=ONE)
