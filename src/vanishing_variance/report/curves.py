"""Accuracy against length on the page's first screen: none and ln with intervals, the paper's curves behind."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from vanishing_variance.core.config import get_param
from vanishing_variance.core.ranges import Range
from vanishing_variance.report.formats import number
from vanishing_variance.study.markdown import drawn_power

# Of one panel, in its own units.
WIDTH, HEIGHT = 400, 200
LEFT, RIGHT, TOP, BOTTOM = 30, 12, 22, 32
# A variant, and its role in tests.csv.
NORMS = {"none": "baseline", "ln": "treatment"}
_SHOWS = {"argmax": "argmax: the class of the largest item", "dictionary": "dictionary: the value beside a key"}


@dataclass(frozen=True)
class Curve:
    """A variant's mean, its 95% band and the paper's numbers, as points of SVG; empty where there are none."""

    norm: str
    mean: str
    band: str
    paper: str


@dataclass(frozen=True)
class Panel:
    """A task's curves, with ticks as place and label; the lengths of training end at `trained`."""

    title: str
    alt: str
    curves: Sequence[Curve]
    lengths: Sequence[tuple[float, str]]
    accuracies: Sequence[tuple[float, str]]
    trained: float


def shown(tests: pd.DataFrame) -> pd.DataFrame:
    """Return the tests that are drawn, of tests.csv: none against ln, short range, plain softmax."""
    return tests.query("range == 'short' and temperature == 'plain' and treatment == 'ln' and baseline == 'none'")


def panels(tests: pd.DataFrame, paper: pd.DataFrame, params: Mapping[str, Any]) -> list[Panel]:
    """Return a panel a task that was tested: short range, plain softmax; of tests.csv and paper.csv, in percent."""
    tests = shown(tests)
    paper = paper.query("range == 'short' and temperature == 'plain' and quantity == 'accuracy_pct'")
    trained = get_param(params, "ranges.short", Range)
    made = []
    for task in dict.fromkeys(tests["task"]):
        theirs = paper[(paper["task"] == task) & paper["paper"].notna()]
        made.append(_panel(task, tests[tests["task"] == task].sort_values("length"), theirs, trained))
    return made


def _panel(task: str, tests: pd.DataFrame, paper: pd.DataFrame, trained: Range) -> Panel:
    lengths = [int(length) for length in tests["length"]]
    ends = math.log2(min(trained.shortest, *lengths)), math.log2(max(lengths))

    def across(length: float) -> float:
        share = (math.log2(length) - ends[0]) / max(ends[1] - ends[0], 1)
        return round(LEFT + share * (WIDTH - LEFT - RIGHT), 1)

    def points(lengths: Iterable[int], values: Iterable[float]) -> str:
        pairs = zip(lengths, values, strict=True)
        return " ".join(f"{across(length)},{_down(value)}" for length, value in pairs if not math.isnan(value))

    curves, said = [], []
    for norm, role in NORMS.items():
        mean, low, high = (list(tests[f"{role}_{part}"]) for part in ("mean", "low", "high"))
        theirs = paper[paper["variant"] == norm].sort_values("length")
        around = " ".join(filter(None, (points(lengths, high), points(lengths[::-1], low[::-1]))))
        curves.append(Curve(norm, points(lengths, mean), around, points(theirs["length"], theirs["paper"])))
        said.append(f"{norm} falls from {number(mean[0], '.1f')}% to {number(mean[-1], '.1f')}%")
    return Panel(
        title=_SHOWS.get(task, task),
        alt=f"Accuracy on {task} from {lengths[0]} to {lengths[-1]:,} items: {', '.join(said)}",
        curves=curves,
        lengths=[(across(length), drawn_power(length)) for length in lengths[:: 2 if len(lengths) > 6 else 1]],
        accuracies=[(_down(value), str(value)) for value in (0, 25, 50, 75, 100)],
        trained=across(min(trained.longest, max(lengths))),
    )


def _down(accuracy: float) -> float:
    """Return the place of an accuracy (%)."""
    return round(HEIGHT - BOTTOM - accuracy / 100 * (HEIGHT - TOP - BOTTOM), 1)
