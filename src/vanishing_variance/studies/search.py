"""The search of the setting of each line that is tuned, by its loss at the training lengths.

The choice is a function of the study and of results alone.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any

import pandas as pd

from vanishing_variance.harness.errors import InputError
from vanishing_variance.results.columns import rows
from vanishing_variance.results.schema import by_rule
from vanishing_variance.studies.ladder import middle
from vanishing_variance.studies.study import Study, but_blocks, is_numeric
from vanishing_variance.studies.tuning import (
    Choice,
    Setting,
    Tried,
    Tuned,
    combinations,
    common_seeds,
    failures,
    log_losses,
    run_name,
    settings_of,
    tuned_lines,
)

# Returns the results of a task and the name of runs, of the seeds that choose, or None where there are none yet.
Read = Callable[[str, str], pd.DataFrame | None]


def choice_of(study: Study, basis: Tuned, read: Read, kept: Read) -> Choice:
    """Return all settings that are to be tried by what is known now, and of each line the chosen one, once it is known.

    `read`: the results of the seeds that choose, and `kept` those of kept.csv.
    """
    return {task: _Search(study, task, basis, read, kept).result() for task in study.tasks}


class _Search:
    """The search of the best settings of all lines on a task."""

    def __init__(self, study: Study, task: str, basis: Tuned, read: Read, kept: Read) -> None:
        assert study.choose is not None
        self.study, self.task, self.read, self.kept = study, task, read, kept
        self.choose, self.basis = study.choose, basis
        self.tried: dict[str, dict[str, Tried]] = {line: {} for line in tuned_lines(study)}
        self.results: dict[str, pd.DataFrame] = {}
        self.params: dict[str, Setting] = {}

    def result(self) -> dict[str, list[Tried]]:
        """Return the settings of each line, with the chosen one where none is to be tried any more."""
        for line, best in self._best().items():
            settings = self.tried[line]
            settings[best.name] = best.model_copy(update={"chosen": best.weights})
            for name, tried in settings.items():
                is_trained = name == best.name or not tried.kept
                at_length = tried.at_length or (is_trained and self._is_beside(tried, line, best))
                settings[name] = tried.model_copy(update={"at_length": at_length})
        return {line: list(settings.values()) for line, settings in self.tried.items()}

    def _best(self) -> dict[str, Tried]:
        """Return the best setting of each line that has one; nothing while settings are to be tried."""
        grid: dict[str, list[Any]] = {}
        for line in self.tried:
            grid |= {key: list(values) for key, values in self.study.grid(line).items()}
        while self._has_tried(grid):
            best = self._lowest()
            trained = [tried for line, tried in best.items() if line in self.study.lines]  # kept ones have no more
            wider = {key: self._grown(key, values, trained) for key, values in grid.items()}
            if wider == grid:
                return self._refined(best)
            grid = wider
        return {}

    def _grown(self, key: str, values: list[Any], best: Iterable[Tried]) -> list[Any]:
        """Return the values of a key with those beside each best one, as far as its grid may grow."""
        beyond = self.basis.beyond.get(key)
        if not beyond:
            return values
        ladder = sorted({*values, *beyond})
        grown = {*values}
        for setting in (tried.setting for tried in best if key in tried.setting):
            place = ladder.index(setting[key])
            grown |= {*ladder[max(place - 1, 0) : place + 2]}
        return [value for value in ladder if value in grown]

    def _has_tried(self, grid: Mapping[str, list[Any]]) -> bool:
        """Try all settings of a grid; return whether all have results."""
        for line in self.tried:
            trained = combinations({key: grid[key] for key in self.study.grid(line)})
            for setting in trained if line in self.study.lines else settings_of(self.study, line):
                self._try(line, setting)
        return self._is_complete()

    def _refined(self, best: dict[str, Tried]) -> dict[str, Tried]:
        """Return the best settings after steps were halved around them; nothing while settings are to be tried."""
        for _ in range(self.choose.refine):
            for line, tried in best.items():
                for setting in list(self._halved(line, tried)):
                    self._try(line, setting)
            if not self._is_complete():
                return {}
            best = self._lowest()
        return best

    def _try(self, line: str, setting: Setting) -> None:
        """Add a setting of a line; one that is not trained any more only where kept.csv has it."""
        name = run_name(self.study, line, setting)
        params = but_blocks(self.study.own(line)) | setting
        if name in self.study.names or self.params.setdefault(name, params) != params:
            said = f"the runs of line {line} at {', '.join(map(str, setting.values()))} are {name}"
            raise InputError(f"{said}, as others are, which are trained otherwise; rename a line")
        kept = self.kept(self.task, name)
        if name in self.tried[line] or (line not in self.study.lines and kept is None):
            return
        self.tried[line][name] = Tried(name=name, setting=setting, kept=kept is not None, failed=0)
        results = self.read(self.task, name) if kept is None else kept
        if results is not None and name not in self.results:  # which lines may share
            self.results[name] = by_rule(results)

    def _is_complete(self) -> bool:
        """Score each setting by the seeds that all of its line have; return whether all have results."""
        for line, settings in self.tried.items():
            tested = {name: self.results[name] for name in settings if name in self.results}
            seeds = common_seeds(results for results in tested.values() if results["note"].isna().all())
            if tested and not seeds and line not in self.study.lines:
                raise InputError(f"the kept settings of {line} on {self.task} have no seed of choose.blocks in common")
            for name, results in tested.items():
                settings[name] = self._scored(settings[name], line, results, seeds)
        return all(tried.seeds for settings in self.tried.values() for tried in settings.values())

    def _scored(self, tried: Tried, line: str, results: pd.DataFrame, seeds: set[Any]) -> Tried:
        if results["note"].notna().any():
            count = max(len(seeds), 1)
            return tried.model_copy(update={"seeds": count, "failed": count})
        longest = self.basis.longest[self.study.range_of(line)]
        of_seeds = results[results["seed"].isin(seeds)]
        failed, losses = 0, {}
        for rule in self.study.weights(line):
            tested = rows(of_seeds, rule=rule)
            has_failed = failures(tested, longest, self.basis.chance[self.task][longest])
            failed = max(failed, int(has_failed.sum()))
            of_rule = log_losses(tested)
            if len(of_rule):
                failed = max(failed, len(seeds) - len(of_rule))
                losses[rule] = round(float(of_rule.mean()), 6)
        at_length = bool((results["length"] > longest).any())
        found = {"seeds": len(seeds), "failed": failed, "losses": losses, "at_length": at_length}
        return tried.model_copy(update=found)

    def _lowest(self) -> dict[str, Tried]:
        """Return of each line the setting with the lowest loss, the first of equals, without those that failed."""
        best = {}
        for line, settings in self.tried.items():
            trained = [tried for tried in settings.values() if tried.losses and not tried.failed]
            if trained:
                best[line] = min(trained, key=lambda tried: min(tried.losses.values()))
        return best

    def _halved(self, line: str, best: Tried) -> Iterator[Setting]:
        """Yield the settings in the middle between the best one and those beside it, in each key of numbers."""
        for key, values in self._values(line).items():
            if not is_numeric(values):
                continue
            for low, high in pairwise(values):
                value = middle(low, high)
                is_new = low < value < high and value in self.basis.between.get(key, [])
                if best.setting[key] in (low, high) and is_new:
                    yield {**best.setting, key: value}

    def _values(self, line: str) -> dict[str, list[Any]]:
        """Return the values of each key that were tried of a line, numbers in order."""
        values = {}
        for key in self.study.grid(line):
            tried = list(dict.fromkeys(tried.setting[key] for tried in self.tried[line].values()))
            values[key] = sorted(tried) if is_numeric(tried) else tried
        return values

    def _is_beside(self, tried: Tried, line: str, best: Tried) -> bool:
        """Return whether a setting is the best one, or differs from it by a step in one key alone."""
        steps = 0
        for key, values in self._values(line).items():
            steps += _steps(values, tried.setting[key], best.setting[key])
        return steps <= 1


def _steps(values: list[Any], value: Any, other: Any) -> int:
    """Return how many steps lie between two values of a key; one where they differ and are no numbers."""
    return abs(values.index(value) - values.index(other)) if is_numeric(values) else int(value != other)
