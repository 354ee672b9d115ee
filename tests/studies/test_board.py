"""The board of a study, against numpy and scipy; and the boards in git, against their results."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from checkout import ROOT
from scipy import stats

from vanishing_variance.figures.board import draw
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.frames import read_csv, write_files
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.results.paired import STATISTICS, Statistic
from vanishing_variance.studies.board import board, board_table, gains_by_steps, note_of_ranges
from vanishing_variance.studies.parameters import params_of_tables
from vanishing_variance.studies.plan import read_plan
from vanishing_variance.studies.reading import read_all
from vanishing_variance.studies.results import last_layer, mechanism_of_study
from vanishing_variance.studies.study import read_study
from vanishing_variance.studies.tables import evidence_of, study_files

LENGTHS = (16, 32, 64)


def line(name, accuracies, rule="last", seeds=range(4)):
    """Return results on argmax; `accuracies`: a row a seed, a column a length."""
    rows = []
    for seed, of_seed in zip(seeds, accuracies, strict=True):
        for length, accuracy in zip(LENGTHS, of_seed, strict=True):
            rows.append((seed, rule, length, accuracy, 1 / length, 4.0 / length))
    frame = pd.DataFrame(rows, columns=["seed", "rule", "length", "accuracy", "target", "variance"])
    return frame.assign(task="argmax", line=name, note=None)


@pytest.fixture
def accuracies():
    return np.random.default_rng(0).random((3, 4, 3))


def test_means_and_paired_differences_are_scipys(accuracies):
    first, second, third = accuracies
    table = board(pd.concat([line("a", first), line("b", second), line("c", third)]), [("b", "a"), ("c", "a")], 16, 512)
    assert table["line"].tolist() == ["a", "b", "c"]
    beyond = 100 * accuracies[:, :, 1:].mean(axis=2)
    np.testing.assert_allclose(table["beyond"], beyond.mean(axis=1), atol=1e-6)
    tests = [stats.ttest_rel(other, beyond[0]) for other in beyond[1:]]
    np.testing.assert_allclose(table["p"][1:], [test.pvalue for test in tests])
    np.testing.assert_allclose(table["difference"][1:], beyond[1:].mean(axis=1) - beyond[0].mean(), atol=1e-6)
    smaller, larger = sorted(table["p"][1:])
    assert table["p_holm"].min() == pytest.approx(min(2 * smaller, 1))
    assert table["p_holm"].max() == pytest.approx(min(max(2 * smaller, larger), 1))
    assert table[["target", "variance_ratio"]].to_numpy() == pytest.approx(np.array([[1 / 64, 1 / 4]] * 3), abs=1e-6)


def test_only_seeds_that_both_have_are_compared_and_rules_apart(accuracies):
    first, second, third = accuracies
    parts = [line("a", first), line("a", third, "averaged"), line("b", second, seeds=range(2, 6))]
    table = board(pd.concat(parts), [("b", "a")], 16, 512).set_index(["line", "rule"])
    assert table.loc[("b", "last"), "n_paired"] == 2
    assert table.loc[("a", "averaged"), "n"] == 4
    ours, theirs = (100 * of_line[:, 1:].mean(axis=1) for of_line in (second, first))
    welch = stats.ttest_ind(ours, theirs, equal_var=False).confidence_interval()
    all_seeds = table.loc[("b", "last"), ["all_seeds", "all_seeds_low", "all_seeds_high"]].tolist()
    assert all_seeds == pytest.approx([ours.mean() - theirs.mean(), *welch], abs=1e-6)
    assert np.isnan(table.loc[("a", "averaged"), "difference"])


def test_a_pair_without_a_common_seed_is_in_the_board_with_no_seeds(accuracies):
    first, second, third = accuracies
    parts = [line("a", first), line("b", second, seeds=range(4, 8)), line("c", third)]
    table = board(pd.concat(parts), [("b", "a"), ("c", "a")], 16, 512)
    assert table["n_paired"].tolist()[1:] == [0, 4]
    text = " ".join(board_table("mine", "Which?", table, {"short": 16}).split())
    assert "| b | a | last | 0 | – |" in text


def test_the_failed_baseline_of_a_line_whose_weights_were_chosen_is_to_be_seen(accuracies):
    failed = pd.DataFrame([{"task": "argmax", "line": "a", "note": "all settings failed"}])
    parts = [failed, line("b", accuracies[0]), line("b", accuracies[0], "chosen")]
    table = board(pd.concat(parts), [("b", "a")], 16, 512)
    assert table[table["line"] == "b"].set_index("rule")["n_paired"].to_dict() == {"last": 0, "chosen": 0}
    assert "| b | a | chosen | 0 |" in " ".join(board_table("mine", "Which?", table, {"short": 16}).split())


def test_means_of_two_ranges_are_said_to_be_of_other_lengths(accuracies):
    table = board(pd.concat([line("a", accuracies[0]), line("b", accuracies[1])]), [], 16, 512)
    ranges = {"short": 16, "long": 32}
    text = board_table("mine", "Which?", table, ranges)
    said = "over lengths above 16 for the short range, above 32 for the long range: compare lines of one range."
    assert said in text
    assert said in draw("Which?", table, note_of_ranges(ranges)).caption


def test_a_line_may_have_two_baselines(accuracies):
    lines = pd.concat([line(name, of_line) for name, of_line in zip("abc", accuracies, strict=True)])
    table = board(lines, [("c", "a"), ("c", "b")], 16, 512)
    assert table[["line", "baseline"]].dropna().to_numpy().tolist() == [["c", "a"], ["c", "b"]]
    for baseline in "ab":
        alone = board(lines, [("c", baseline)], 16, 512).query("line == 'c'")
        of_both = table.query("baseline == @baseline")
        np.testing.assert_array_equal(of_both["difference"], alone["difference"])
    text = board_table("mine", "Which?", table, {"short": 16})
    assert [text.count(f"| c      | {part}") for part in ("last", "a", "b")] == [1, 1, 1]
    drawn, of_one = (draw("Which?", of).figure.axes[0] for of in (table, board(lines, [("c", "a")], 16, 512)))
    assert len(drawn.lines[0].get_xdata()) == len(of_one.lines[0].get_xdata()) == 3


def models(name, seed, accuracies):
    """Return results of one seed of a line; `accuracies` beyond training by rule."""
    return pd.concat(line(name, [(0.99, value, value)], rule, [seed]) for rule, value in accuracies.items())


def test_the_gain_after_each_kept_step_is_of_the_seeds_that_both_have():
    ours, theirs = [], []
    for seed in range(4):
        rules = {"last": 0.9, "step_00001000": 0.5 + seed / 100, "step_00002000": 0.7, "averaged": 0.95}
        ours.append(models("ln", seed, rules))
    for seed in range(1, 6):
        rules = {"last": 0.8, "step_00001000": 0.6, "step_00002000": 0.7}
        theirs.append(models("none", seed, rules))
    both = pd.concat([*ours, *theirs])
    found = gains_by_steps(both, [("ln", "none")], {"ln": 16, "none": 16})
    assert found["rule"].tolist() == ["step_00001000", "step_00002000", "last"]
    assert set(found["difference_n"]) == {3}
    assert found["difference"].tolist() == pytest.approx([-8, 0, 10])
    test = stats.ttest_rel([51, 52, 53], [60, 60, 60]).confidence_interval()
    assert found.loc[0, ["difference_low", "difference_high"]].tolist() == pytest.approx([*test])
    assert gains_by_steps(both.query("rule == 'last'"), [("ln", "none")], {"ln": 16, "none": 16}).empty


@pytest.fixture
def lowest_seed():
    """A statistic more: a function in the register."""

    def lowest_seed(arms, scope):
        return float(arms.ours[scope].min())

    STATISTICS["lowest_seed"] = Statistic(lowest_seed, "lowest seed (%)", ".2f", of_pair=False)
    yield "lowest_seed"
    del STATISTICS["lowest_seed"]


def test_a_statistic_is_one_function_and_a_study_shows_it_that_asks_for_it(
    lowest_seed, accuracies, monkeypatch, tmp_path
):
    first, second, _ = accuracies
    lines = pd.concat([line("a", first), line("b", second)])
    usual, table = (board(lines, [("b", "a")], 16, 512, asked) for asked in ([], [lowest_seed]))
    lowest = [100 * of_line[:, 1:].mean(axis=1).min() for of_line in (first, second)]
    np.testing.assert_allclose(table["lowest_seed"], lowest, atol=1e-6)
    pd.testing.assert_frame_equal(table[usual.columns], usual)
    text = board_table("mine", "Which?", table, {"short": 16}, [lowest_seed, "p"])
    assert all(f"{value:.2f} |" in text for value in lowest)
    assert "lowest seed (%) |" in text
    assert f"| {table['p'].dropna().item():.2g} |" in " ".join(text.split())
    assert "lowest seed" not in board_table("mine", "Which?", usual, {"short": 16}, ["lowest_seed"])

    monkeypatch.chdir(tmp_path)
    file = Path("studies/mine/study.yaml")
    text = "question: Which?\ntasks: [argmax]\nlines: {none: {norm: none}}\nstatistics: "
    write_text(file, f"{text}[lowest_seed]\n")
    assert read_study("mine").statistics == [lowest_seed]
    write_text(file, f"{text}[highest]\n")
    with pytest.raises(
        InputError, match=r"^studies/mine/study.yaml: statistics\S* is 'highest'; must be one of [^\n]*$"
    ):
        read_study("mine")


@pytest.mark.usefixtures("lowest_seed")
@pytest.mark.parametrize("name", sorted(path.parent.name for path in (ROOT / "studies").glob("*/board.csv")))
def test_what_a_study_in_git_compares_is_that_of_its_results(name, monkeypatch, tmp_path):
    """Else: make study NAME=<name>. Whatever statistics there are that it does not ask for."""
    monkeypatch.chdir(ROOT)
    folder = ROOT / "studies" / name
    write_files(tmp_path, study_files(read_study(name), read_plan(name))[0])
    for path in (path.relative_to(tmp_path) for path in tmp_path.rglob("*.*")):
        if path.suffix == ".csv":
            again, in_git = (read_csv(where / path) for where in (tmp_path, folder))
            pd.testing.assert_frame_equal(again, in_git, rtol=1e-6, atol=1e-6)
        else:
            assert (tmp_path / path).read_text() == (folder / path).read_text(), path


def test_a_small_variance_keeps_its_digits_in_results():
    mechanism = pd.DataFrame(
        {"seed": [0], "length": [16], "target": [0.5], "variance_before": [4.321e-7], "sample": "tested"}
    )
    heads = pd.DataFrame(
        {"seed": [0], "length": [16], "layer": [0], "head": [0], "target": [0.5], "variance": [4.321e-7]}
    )
    assert mechanism_of_study(mechanism)["variance"].item() == last_layer(heads)["variance"].item() == 4.321e-7


def test_claims_are_of_lines_of_which_no_training_diverged(monkeypatch):
    monkeypatch.chdir(ROOT)
    params = read_yaml(ROOT / "params.yaml")
    study, results = read_all("velickovic", params)
    diverged = pd.DataFrame({"task": ["argmax"], "line": ["ln"], "note": ["diverged"]})
    evidence = evidence_of(study, params_of_tables(params, study), pd.concat([results, diverged]))
    for frame in (evidence.accuracy, evidence.mechanism):
        lines = frame.groupby("task")["line"].unique()
        assert {*lines["argmax"]} == {"none"}
        assert {*lines["dictionary"]} == {"none", "std", "ln"}
