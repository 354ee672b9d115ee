import pandas as pd
import pytest
from scipy import stats

from benchmarks import long_range
from benchmarks.long_range import GROWTHS, KEYS, markdown, measured
from vanishing_variance import read_params

SMALL = {"tasks.dictionary.steps.long": 300, "tasks.dictionary.data.key_classes": 512, "model.width": 8}
SMALL |= {"training.batch_size": 2, "test.lengths": [16, 512], "figures.lengths": [16, 512]}


@pytest.mark.parametrize(
    ("name", "expected"),
    # the mean of (5 + bound) / 2 over the steps: bounds of 16 to 256, of 256 alone
    [("linear, over all steps", 70.5), ("linear, over half of them", 100.5), ("no growth", 130.5)],
)
def test_models_are_measured_after_lengths_that_grow_as_the_name_says(monkeypatch, name, expected):
    monkeypatch.setattr(long_range, "SEQUENCES", 4)
    found = measured("dictionary", "ln", SMALL | {"ranges.long.growth": GROWTHS[name]}, range(2))
    assert found.groupby("length")["seed"].apply(list).to_dict() == {16: [0, 1], 512: [0, 1]}
    assert set(found["norm"]) == {"ln"}
    assert found["accuracy"].between(0, 1).all()
    # 300 lengths with a standard deviation below 80: their mean has one of 4.6
    assert abs(found["items"].unique() - expected) < 15


def test_one_growth_is_the_studys():
    assert read_params()["ranges"]["long"]["growth"] in GROWTHS.values()


def test_settings_are_tabled_with_their_distance_and_the_gain_of_the_seeds_of_both():
    papers = {2**7: 99.7, 2**12: 93.5, 2**13: 87.7, 2**14: 77.8}
    none = [
        ("dictionary", "linear, over all steps", "none", 70.4, seed, length, (accuracy - 1 + seed) / 100)
        for seed in range(3)
        for length, accuracy in papers.items()
    ]
    ln = [(*row[:2], "ln", *row[3:6], row[6] + 0.01 * (1 + row[4])) for row in none if row[4] < 2]
    text = markdown(pd.DataFrame(none + ln, columns=KEYS))
    first, second = (
        [cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line[:5] == "| lin"
    )
    low, high = stats.t.interval(0.95, 2, 77.8, stats.sem([76.8, 77.8, 78.8]))
    assert first[1:5] == ["none", "3", "70", "0.0"]
    assert first[-2:] == [f"77.8 [{low:.1f}, {high:.1f}]", ""]
    low, high = stats.t.interval(0.95, 1, 1.5, stats.sem([1, 2]))
    # ln is 100.7, 94.5, 88.7 and 78.8 here, the paper's 99.8, 95, 90.4 and 82.6
    assert second[1:5] == ["ln", "2", "70", "1.7"]
    assert second[-1] == f"+1.5 [{low:+.1f}, {high:+.1f}]"


def test_only_missing_seeds_are_trained(monkeypatch, tmp_path):
    trained = []

    def made(task, norm, changes, seeds):
        trained.append(list(seeds))
        rows = [(task, norm, 70.0, seed, length, 0.5) for seed in seeds for length in (2**7, 2**12, 2**13, 2**14)]
        return pd.DataFrame(rows, columns=["task", "norm", "items", "seed", "length", "accuracy"])

    (tmp_path / "metrics").mkdir()
    monkeypatch.setattr(long_range, "ROOT", tmp_path)
    monkeypatch.setattr(long_range, "measured", made)
    for number in ("2", "3", "3"):
        monkeypatch.setattr("sys.argv", ["long_range", "dictionary", "no growth", "--seeds", number])
        long_range.main()
    assert trained == [[8, 9], [10]]
    assert "| no growth | none | 3 | 70 |" in (tmp_path / "metrics/long_range.md").read_text()


def test_what_another_process_adds_meanwhile_is_kept(monkeypatch, tmp_path):
    def rows(seed, name):
        made = [("argmax", "none", 70.0, seed, 2**length, 0.5) for length in (4, 5, 11, 12, 13, 14)]
        columns = ["task", "norm", "items", "seed", "length", "accuracy"]
        return pd.DataFrame(made, columns=columns).assign(setting=name)[KEYS]

    def measured(task, norm, changes, seeds):
        rows(9, "no growth").to_csv(tmp_path / "metrics/long_range.csv", index=False)
        return rows(seeds[0], "").drop(columns="setting")

    (tmp_path / "metrics").mkdir()
    monkeypatch.setattr(long_range, "ROOT", tmp_path)
    monkeypatch.setattr(long_range, "measured", measured)
    monkeypatch.setattr("sys.argv", ["long_range", "argmax", "rate 3e-4", "--seeds", "1"])
    long_range.main()
    found = pd.read_csv(tmp_path / "metrics/long_range.csv")
    assert found.groupby("setting")["seed"].unique().map(list).to_dict() == {"no growth": [9], "rate 3e-4": [8]}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [(["no such"], "setting: no such: choose from: geom"), (["--seeds", "9"], "seeds: 9 must be")],
)
def test_bad_arguments_are_refused_in_a_line(monkeypatch, capsys, arguments, said):
    monkeypatch.setattr("sys.argv", ["long_range", "argmax", *arguments])
    with pytest.raises(SystemExit, match="2"):
        long_range.main()
    assert said in capsys.readouterr().err
