"""The page docs/results.md: its words in templates/results.md, its numbers and tables from metrics/ and plots/."""

import json
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import dropwhile, takewhile
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.frames import parse_csv
from vanishing_variance.report import strongest
from vanishing_variance.report.formats import MISSING, interval, number
from vanishing_variance.report.rendering import TEMPLATES
from vanishing_variance.results.shares import BEYOND
from vanishing_variance.statistics.intervals import interval as t_interval

MARKDOWN = TEMPLATES.overlay(autoescape=False)
RECORD, RUN = f"metrics/{strongest.RECORD}/", "metrics/"
SHORTEST, LONGEST = 2**4, 2**14


def results_page(read: Callable[[str], str]) -> str:
    """Return the page; `read` returns the text of a file by its path in the repository, or raises InputError."""
    return render(Numbers(read, RECORD))


def render(numbers: "Numbers") -> str:
    """Return the page with these numbers."""
    return MARKDOWN.get_template("results.md").render(of=numbers)


class Numbers:
    """Numbers and tables for the template, from the files that `read` returns; the record is a folder of metrics.

    A number that they do not have is a dash, and a table or row is left out, as where a record has one task alone;
    `missing` has the names of these tables and rows.
    """

    def __init__(self, read: Callable[[str], str], record: str) -> None:
        self.read, self.record, self.run = read, record, RUN
        self.missing: list[str] = []

    def frame(self, name: str) -> pd.DataFrame:
        """Return a CSV file; `none` is a name in it, not a missing value."""
        return parse_csv(self.read(name), Path(name))

    def entry(self, name: str, *keys: str) -> Any:
        """Return what a JSON file has under keys within each other. Raises InputError where it has not."""
        try:
            found = json.loads(self.read(name))
            for key in keys:
                found = found[key]
        except (ValueError, KeyError, TypeError) as problem:
            raise InputError(f"{name}: {'.'.join(keys)} cannot be read: {problem!r}; git checkout it") from None
        return found

    def claim(self, key: str, folder: str = "") -> dict[str, Any]:
        """Return a judged claim, of the record or of another folder of metrics."""
        found: dict[str, Any] = self.entry(f"{folder or self.record}claims.json", key)
        return found

    def gain(self, key: str, folder: str = "") -> str:
        """Return the number of a claim, with its interval."""
        claim = self.claim(key, folder)
        ends = interval(claim["low"], claim["high"], ".1f")
        return number(claim["ours"], "+.1f") + ("" if claim["low"] is None else f" [{ends}]")

    def table(self, name: str, rows: Sequence[str] = (), section: str = "") -> str:
        """Return the first Markdown table below a heading: its head and the rows that begin so, or all."""
        try:
            _, heading, below = f"\n{self.read(name)}".partition(f"\n{section}")
        except InputError:
            heading = below = ""
        if not heading:
            self.missing.append(f"{name}: {section}")
            return MISSING
        lines = list(takewhile(_is_row, dropwhile(lambda line: not _is_row(line), below.splitlines())))
        by_name = {line.split(" | ")[0].removeprefix("| "): line for line in reversed(lines[2:])}
        self.missing += [f"{name}: {row}" for row in rows if row not in by_name]
        return "\n".join([*lines[:2], *([by_name[row] for row in rows if row in by_name] if rows else lines[2:])])

    def seeds(self, task: str) -> str:
        """Return which seeds the record has of `none`, trained on the short range: "0 to 7 and 16 to 31"."""
        rows = self.frame(f"{self.record}pieces.csv").query("task == @task and range == 'short' and norm == 'none'")
        runs: list[list[int]] = []
        for first, last in sorted(zip(rows["first_seed"], rows["last_seed"], strict=True)):
            if runs and runs[-1][1] + 1 == first:
                runs[-1][1] = last
            else:
                runs.append([first, last])
        return " and ".join(f"{first} to {last}" for first, last in runs) or "none"

    def distance(self, table: int, temperature: str = "") -> str:
        """Return how far the record's accuracies are from a table of the paper's: mean absolute difference (pp)."""
        rows = self.frame(f"{self.record}tables/paper.csv").query("table == @table and quantity == 'accuracy_pct'")
        if temperature:
            rows = rows[rows["temperature"] == temperature]
        return number(rows["difference"].abs().mean(), ".1f")

    def share_of_error(self, source: str) -> str:
        """Return the mean share of a source of error in the squared standard error of a difference."""
        return number(self.frame(f"{self.run}tables/tests.csv")[f"share_{source}"].mean(), ".0%")

    def temperature_adds(self, task: str, norm: str) -> str:
        """Return what the adaptive temperature adds beyond training on the short range, in points."""
        rows = self.frame(f"{self.record}accuracy.csv").query(
            "task == @task and norm == @norm and range == 'short' and length > @SHORTEST"
        )
        plain, adaptive = (rows[rows["temperature"] == name]["accuracy"].mean() for name in ("plain", "adaptive"))
        return number(100 * (adaptive - plain), ".1f")

    def _gains(self, folder: str, task: str) -> pd.Series:
        """The gain of `ln` over `none` beyond training on the short range, in points, by seed."""
        rows = self.frame(f"{folder}accuracy.csv").query(
            "task == @task and range == 'short' and temperature == 'plain' and length > @SHORTEST"
        )
        accuracy = rows.pivot_table(index="seed", columns="norm", values="accuracy").reindex(columns=["ln", "none"])
        return 100 * (accuracy["ln"] - accuracy["none"]).dropna()

    def gains_more(self, task: str, folder: str) -> str:
        """Return how much more `ln` gains in the record than in another, on the seeds that both have, two or more."""
        more = (self._gains(self.record, task) - self._gains(folder, task)).dropna()
        if len(more) < 2:
            return MISSING
        mean, low, high = t_interval(more.to_numpy())
        return f"{number(mean, '+.1f')} [{interval(low, high, '.1f')}] on the same {len(more)} seeds"

    def variance_kept(self, folder: str, task: str, of: str = "variance") -> str:
        """Return how much of its global variance of training O keeps at 2^14 without a normaliser.

        Or of the mean variance of a feature over sequences: `of` is feature_variance.
        """
        rows = self.frame(f"{folder}mechanism.csv").query(
            "task == @task and range == 'short' and norm == 'none' and length == @LONGEST"
        )
        return number((rows[f"{of}_before"] / rows[f"trained_{of}_before"]).mean(), ".0%")

    def own_means(self, task: str, norm: str, where: str) -> str:
        """Return the share that features' own means over sequences have in the global variance of O at 2^4."""
        rows = self.frame(f"{self.run}mechanism.csv").query(
            "task == @task and range == 'short' and norm == @norm and length == @SHORTEST"
        )
        return number(1 - (rows[f"feature_variance_{where}"] / rows[f"variance_{where}"]).mean(), ".0%")

    def share(self, task: str, intervention: str, range_: str = "short", length: int | None = LONGEST) -> str:
        """Return what an intervention is worth without a normaliser, as a share of the fall.

        At a length; where that is None, on average over those beyond training.
        """
        rows = self.frame(f"{self.run}interventions/shares.csv").query(
            "task == @task and range == @range_ and norm == 'none' and intervention == @intervention"
            " and where != 'before'"
        )
        rows = rows[rows["scope"] == BEYOND if length is None else rows["length"] == length]
        share, low, high = (rows[name].mean() for name in ("share", "share_low", "share_high"))
        return f"{number(share, '.0%')} [{interval(100 * low, 100 * high, '.0f')}]"

    def figure3(self, column: str) -> str:
        """Return a relative variance at 2^14 in Figure 3."""
        return number(self.frame("plots/data/figure3.csv").query("length == @LONGEST")[column].mean(), ".0%")

    @cached_property
    def _proposition(self) -> pd.DataFrame:
        rows = self.frame("plots/proposition/proposition.csv")
        return rows.assign(of_limit=rows["variance"] / rows["predicted"], of_bound=rows["variance"] / rows["bound"])

    def exponent(self, task: str, norm: str) -> str:
        """Return the median exponent of a feature's variance beyond the tested lengths."""
        return number(self.entry(f"{self.run}proposition.json", task, norm, "variance_exponent"), ".2f")

    def slope(self, task: str, norm: str) -> str:
        """Return the median slope of a feature's log variance between 2^4 and 2^14."""
        rows = self._proposition.query("task == @task and norm == @norm")
        variance = rows.pivot_table(index="feature", columns="length", values="variance")
        variance = variance.reindex(columns=[SHORTEST, LONGEST])
        slopes = np.log2(variance[LONGEST] / variance[SHORTEST]) / np.log2(LONGEST / SHORTEST)
        return number(float(np.median(slopes)), ".2f")

    def of_limit(self, task: str, norm: str, length: int) -> str:
        """Return the variance at a length as a share of Proposition 1's limit, the median over features."""
        rows = self._proposition.query("task == @task and norm == @norm and length == @length")
        return number(rows["of_limit"].median(), ".2g")

    def of_bound(self) -> str:
        """Return the largest variance as a share of the paper's bound."""
        return number(self._proposition["of_bound"].max(), ".0%")

    def answers(self) -> str:
        """Return how many answers of `ln` models and the same written as `std` models were compared, a task."""
        return f"{self.entry(f'{self.run}capacity.json', 'argmax', 'answers'):,}"


def _is_row(line: str) -> bool:
    return line.startswith("|")
