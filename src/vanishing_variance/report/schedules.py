"""The gain of LN by steps and by learning rate, from studies in git: the picture of the answer."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from vanishing_variance.engine.ranges import training_steps
from vanishing_variance.results.columns import LAST, rows
from vanishing_variance.results.comparison import BEYOND, ENDS, Columns, compare, view
from vanishing_variance.results.schema import by_rule
from vanishing_variance.studies.board import kept_steps
from vanishing_variance.studies.parameters import longest_of_ranges, unchecked_params
from vanishing_variance.studies.reading import read_all

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
    Source("argmax", "the same, averaged weights", "matched-argmax", "ln", "averaged"),
    Source("argmax", "constant 0.001, other seeds", "paper-scale", "ln"),
    Source("argmax", "constant, best after 40,000 steps", "best-argmax", "ln-constant", by_steps=True),
    Source("argmax", "falling from 0.001", "tasks", "falls-ln"),
    Source("argmax", "falling from each arm's best", "best-argmax-long", "ln-falls"),
    Source("dictionary", "constant 0.001", "matched", "ln", by_steps=True),
    Source("dictionary", "the same, averaged weights", "matched", "ln", "averaged"),
    Source("dictionary", "constant 0.001, other seeds", "best-long", "ln-constant-100", by_steps=True),
    Source("dictionary", "constant, best after 40,000 steps", "best-long", "ln-constant", by_steps=True),
    Source("dictionary", "falling from 0.001", "tasks", "falls-ln"),
    Source("dictionary", "falling from each arm's best", "best", "ln-falls"),
    Source("dictionary", "falling from each arm's best", "best-long", "ln-falls"),
)


def read_schedules(params: Mapping[str, Any]) -> pd.DataFrame:
    """Return a row a gain, COLUMNS: in points beyond training, with 95% intervals over n seeds. Raises InputError."""
    gains = [row for source in SOURCES for row in _gains(source, params)]
    return pd.DataFrame(gains, columns=list(COLUMNS))


def _gains(source: Source, params: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    study, results = read_all(source.study, params)
    of_line = unchecked_params(params, study, source.line)
    longest = longest_of_ranges(params, study)[study.range_of(source.line)]
    total = training_steps(of_line, source.task, study.range_of(source.line))
    tested = rows(by_rule(results), task=source.task)
    steps = {**(kept_steps(tested) if source.by_steps else {}), source.rule: total}
    baseline = next(theirs for ours, theirs in study.pairs if ours == source.line)  # the first, where there are more
    columns: Columns = {"gain": ("difference", BEYOND)}
    pair = source.line, baseline
    gains = view(compare(tested, [pair], {source.line: longest}, 0, columns.values(), rules=steps), columns)
    for row in gains.to_dict("records"):
        estimate = (row[f"gain{end}"] for end in ENDS.values())
        yield source.task, source.schedule, steps[row["rule"]], int(row["gain_n"]), *estimate
