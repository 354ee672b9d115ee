"""Settings of the lines that are tuned, and what is trained of them.

A setting is a value of each key that `tune` of a study has and the line has not; it is trained as a line of its own,
whose name is the line's with the values.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from pydantic import Field

from vanishing_variance.harness.sections import Section
from vanishing_variance.results.columns import LAST, LOSS
from vanishing_variance.studies.ladder import values_beyond
from vanishing_variance.studies.study import Study, but_blocks, is_numeric, text_of

Setting = dict[str, Any]
# A model failed where, at the longest training length, its accuracy is no further above that of the most frequent
# label than this part of what is possible.
NEAR_CHANCE = 0.25
# Losses in results before 2026-12 have six decimals: one of 0 there counts as half of the last.
SMALLEST = 5e-7


class Tried(Section):
    """A setting of a line: the name of its runs, and what the seeds that choose have shown of it.

    `seeds`: how many there are, none before it is trained; `failed`: how many of them ended near chance, or diverged;
    `losses`: the mean over seeds of the log loss (nats) by rule of the weights. `kept`: whether their results are of
    kept.csv. `at_length`: whether they are tested beyond the training lengths. `chosen`: the rule of the weights with
    which it is the line's setting, or nothing.
    """

    name: str
    setting: Setting
    kept: bool = False
    at_length: bool = False
    seeds: int = 0
    failed: int
    losses: dict[str, float] = Field(default_factory=dict)
    chosen: str = ""

    @property
    def weights(self) -> str:
        """The rule of the weights with the lowest loss, the first of equals."""
        return min(self.losses, key=lambda rule: self.losses[rule], default=LAST)


# By task and line, in the order in which settings were tried.
Choice = dict[str, dict[str, list[Tried]]]


class Tuned(Section):
    """The choice of a study that tunes, and what it is made with; of another study it is empty.

    `choosing`: the seeds that choose; `seeds`: those of each line; `longest`: in training, by range; `chance`: the
    share, by task, of the most frequent label at each longest training length; `beyond`: the values, by key, by which
    its grid may grow, and `between`: those that halve its steps.
    """

    choosing: list[int] = Field(default_factory=list)
    seeds: dict[str, list[int]] = Field(default_factory=dict)
    longest: dict[str, int] = Field(default_factory=dict)
    chance: dict[str, dict[int, float]] = Field(default_factory=dict)
    beyond: dict[str, list[Any]] = Field(default_factory=dict)
    between: dict[str, list[Any]] = Field(default_factory=dict)
    tried: Choice = Field(default_factory=dict)

    def settings(self, task: str, line: str) -> list[Tried]:
        """Return the settings of a line; of one that is not tuned none."""
        return self.tried.get(task, {}).get(line, [])

    def chosen(self, task: str, line: str) -> Tried | None:
        """Return the setting that was chosen of a line."""
        return chosen_of(self.settings(task, line))


class Trained(NamedTuple):
    """A line as it is trained on a task: by its own name, or at a setting by the name of that."""

    task: str
    line: str
    name: str
    setting: Setting
    blocks: list[int]
    at_length: bool


def run_name(study: Study, line: str, setting: Mapping[str, Any]) -> str:
    """Return the name of the runs of a tuned line at a setting: `ln-0_001`.

    Lines that have the same parameters at some settings, as where one has a key of its own that another is tuned in,
    share those runs, by the name of the first of them.
    """
    params = but_blocks(study.own(line)) | dict(setting)
    for other in tuned_lines(study):
        fixed, grid = but_blocks(study.own(other)), study.grid(other)
        values = {key: value for key, value in params.items() if key not in fixed}
        is_same = fixed.items() <= params.items() and values.keys() == grid.keys()
        if is_same and study.range_of(other) == study.range_of(line):
            return "-".join([other, *(text_of(values[key]) for key in grid)])
    raise AssertionError(f"{line} is no line that is tuned")


def run_names(study: Study, line: str) -> list[str]:
    """Return the names of the runs of a line, of one that is tuned those of its settings in study.yaml."""
    settings = settings_of(study, line)
    return [run_name(study, line, setting) for setting in settings] if study.grid(line) else [line]


def settings_of(study: Study, line: str) -> list[Setting]:
    """Return the settings of a line in study.yaml; of one that is kept those by which a grid may grow, too."""
    grid = study.grid(line)
    if line not in study.lines and study.choose:
        for key, values in grid.items():
            if is_numeric(values) and len(values) > 1:
                grid[key] = sorted({*values, *values_beyond(values, study.choose.grow)})
    return combinations(grid)


def tuned_lines(study: Study) -> list[str]:
    """Return the lines of which a setting is chosen."""
    return [line for line in study.names if study.grid(line)]


def trained(study: Study, tuned: Tuned, blocks: Mapping[str, Sequence[int]]) -> list[Trained]:
    """Return the lines of a study as they are trained on each task; `blocks`: those of each line by params.yaml."""
    choosing = study.choose.blocks if study.choose else []
    runs: dict[tuple[str, str], Trained] = {}
    for task, line in product(study.tasks, study.lines):
        if not study.grid(line):
            runs[task, line] = Trained(task, line, line, {}, list(blocks[line]), at_length=True)
        for tried in tuned.settings(task, line):
            new = Trained(task, line, tried.name, tried.setting, [], at_length=False)
            run = runs.get((task, tried.name), new)  # which lines may share
            all_blocks = list(run.blocks)
            if not tried.kept:
                all_blocks += choosing
            if tried.chosen:
                all_blocks += blocks[line]
            unique_blocks = list(dict.fromkeys(all_blocks))
            at_length = run.at_length or tried.at_length
            runs[task, tried.name] = run._replace(blocks=unique_blocks, at_length=at_length)
    return [run for run in runs.values() if run.blocks]


def with_first(choice: Choice) -> Choice:
    """Return a choice in which each line has a setting, the first where none is chosen yet."""
    settled: Choice = {}
    for task, lines in choice.items():
        settled[task] = dict(lines)
        for line, tried in lines.items():
            if tried and not chosen_of(tried):
                settled[task][line] = [tried[0].model_copy(update={"chosen": LAST}), *tried[1:]]
    return settled


def chosen_of(settings: Sequence[Tried]) -> Tried | None:
    """Return the setting that was chosen of those that were tried."""
    return next((tried for tried in settings if tried.chosen), None)


def common_seeds(results: Iterable[pd.DataFrame]) -> set[Any]:
    """Return the seeds that are in all of some results that have any."""
    seeds = [set(of_setting["seed"].dropna()) for of_setting in results]
    return set.intersection(*filter(None, seeds)) if any(seeds) else set()


def failures(results: pd.DataFrame, longest: int, chance: float) -> "pd.Series[bool]":
    """Return by seed whether a model failed, NEAR_CHANCE; `results`: of a line by one rule of weights."""
    trained = results[results["length"] <= longest]
    at_longest = trained[trained["length"] == trained["length"].max()]
    accuracies = at_longest.set_index("seed")["accuracy"].astype(float)
    failed: pd.Series[bool] = accuracies <= chance + NEAR_CHANCE * (1 - chance)
    return failed


def log_losses(results: pd.DataFrame) -> "pd.Series[float]":
    """Return the log loss by seed, of those whose loss is a number; `results`: of a line by one rule of weights."""
    losses = results.groupby("seed")[LOSS].mean().astype(float)
    finite = losses[np.isfinite(losses)].replace(0.0, SMALLEST)
    return pd.Series(np.log(finite.to_numpy()), finite.index)


def combinations(grid: Mapping[str, Sequence[Any]]) -> list[Setting]:
    """Return a setting for each combination of the values of keys."""
    return [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
