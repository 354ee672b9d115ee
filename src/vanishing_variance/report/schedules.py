"""The gain of LN by steps and by learning rate, from studies in git: the picture of the answer."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from vanishing_variance.engine.ranges import training_steps
from vanishing_variance.results.arms import BEYOND
from vanishing_variance.results.columns import LAST, rows
from vanishing_variance.results.comparison import Columns, compare, view
from vanishing_variance.results.schema import by_rule
from vanishing_variance.studies.board import kept_steps
from vanishing_variance.studies.parameters import longest_of_ranges, unchecked_params
from vanishing_variance.studies.reading import read_all

GAIN: Columns = {"mean": ("difference", BEYOND)}
COLUMNS = ("task", "schedule", "steps", "n", "mean", "low", "high")


@dataclass(frozen=True)
class Source:
    """A gain: a task, the learning rate, and the study, line and rule it is of; `by_steps`: after fewer steps, too."""

    task: str
    schedule: str
    study: str
    line: str
    rule: str = LAST
    by_steps: bool = False


SOURCES = (
    Source("argmax", "constant 0.001", "matched-argmax", "ln", by_steps=True),
    Source("argmax", "constant 0.001, averaged weights", "matched-argmax", "ln", "averaged"),
    Source("argmax", "constant 0.001, the paper's steps", "paper-scale", "ln"),
    Source("argmax", "constant, each arm's best rate at 40,000 steps", "best", "ln-constant", by_steps=True),
    Source("argmax", "falling from 0.001 to 0", "tasks", "falls-ln"),
    Source("argmax", "falling from each arm's best rate to 0", "tuned-argmax", "ln"),
    Source("dictionary", "constant 0.001", "matched", "ln", by_steps=True),
    Source("dictionary", "constant 0.001, averaged weights", "matched", "ln", "averaged"),
    Source("dictionary", "constant, each arm's best rate at 40,000 steps", "best", "ln-constant-long", by_steps=True),
    Source("dictionary", "falling from 0.001 to 0", "tasks", "falls-ln"),
    Source("dictionary", "falling from each arm's best rate to 0", "best", "ln-falls"),
    Source("dictionary", "falling from each arm's best rate to 0", "tuned-dictionary", "ln"),
)


def read_schedules(params: Mapping[str, Any]) -> pd.DataFrame:
    """Return a row a gain, COLUMNS: in points beyond training, with 95% intervals over n seeds. Raises InputError."""
    gains = pd.concat([_gains(source, params) for source in SOURCES], ignore_index=True)
    return gains.reindex(columns=list(COLUMNS))


def _gains(source: Source, params: Mapping[str, Any]) -> pd.DataFrame:
    study, results = read_all(source.study, params)
    range_ = study.range_of(source.line)
    tested = rows(by_rule(results), task=source.task)
    steps = kept_steps(tested) if source.by_steps else {}
    of_line = unchecked_params(params, study, source.line)
    longest = longest_of_ranges(of_line, study)[range_]
    steps[source.rule] = training_steps(of_line, source.task, range_)
    pair = next(pair for pair in study.pairs if pair[0] == source.line)  # with the first baseline
    frame = compare(tested, [pair], {source.line: longest}, 0, GAIN.values(), rules=steps)
    gains = view(frame, GAIN)
    gains.columns = gains.columns.str.removeprefix("mean_")
    gains["n"] = gains["n"].astype(int)
    gains["steps"] = gains["rule"].map(steps)
    return gains.assign(schedule=source.schedule)
