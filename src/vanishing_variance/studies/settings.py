"""The settings of tuned lines as a frame and as Markdown: what each was worth, and how much the choice decides.

Losses are log losses in nats at the training lengths, means over the seeds that choose; accuracies are in percent.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

from vanishing_variance.engine.streams import stream
from vanishing_variance.harness.numbers import MISSING, estimate, table_of
from vanishing_variance.results.arms import BEYOND, LONGEST
from vanishing_variance.results.columns import LAST, MODEL, rows
from vanishing_variance.results.comparison import Columns, compare, view
from vanishing_variance.results.runs import CHOSEN
from vanishing_variance.results.schema import without_diverged
from vanishing_variance.studies.board import texts_of_seeds
from vanishing_variance.studies.study import Study
from vanishing_variance.studies.tuning import Tried, Tuned, common_seeds, failures, log_losses, tuned_lines

# Of the seeds that choose, at settings beside a chosen one.
ACCURACY: Columns = {"beyond": ("accuracy", BEYOND), "longest": ("accuracy", LONGEST)}
GAIN: Columns = {"difference": ("difference", BEYOND), "difference_longest": ("difference", LONGEST)}
# What a gain of a setting is of, each arm with its weights.
OF_GAIN = ["run", "rule", "partner", "partner_rule"]
# Of the seeds that choose, with replacement.
REDRAWS = 10_000
NOTE = (
    "*Log loss*: its mean over the seeds that choose, at the training lengths; that of the chosen setting, which is "
    "trained with the line's own seeds, above, is bold. *Redrawn*: how often 10,000 draws of as many of these seeds, "
    "with replacement, choose it. *Failed*: seeds that ended near chance; such a setting is out. "
    "Accuracies and gains here are of the seeds that choose, at settings beside a chosen one, tested after the choice; "
    "gains are over the baseline at the same setting, each with its better weights, where no seed of either failed."
)


def with_chosen(tested: pd.DataFrame, tuned: Tuned) -> pd.DataFrame:
    """Return results by rule, with rows of the rule CHOSEN, each line's chosen weights, where not all are the last."""
    weights = _chosen_weights(tested, tuned)
    if (weights == LAST).all():
        return tested
    chosen = tested[tested["rule"] == weights].assign(rule=CHOSEN)
    return pd.concat([tested, chosen], ignore_index=True)


def of_last_weights(tested: pd.DataFrame, tuned: Tuned) -> pd.DataFrame:
    """Return the results by rule of the lines whose chosen weights are the last ones."""
    return tested[_chosen_weights(tested, tuned) == LAST]


def _chosen_weights(tested: pd.DataFrame, tuned: Tuned) -> "pd.Series[str]":
    """Return the chosen weights of the line in each row of results, the last ones where it is not tuned."""
    weights = []
    for task, line in zip(tested["task"], tested["line"], strict=True):
        chosen = tuned.chosen(task, line)
        weights.append(chosen.chosen if chosen else LAST)
    return pd.Series(weights, tested.index)


def with_settings(board: pd.DataFrame, tested: pd.DataFrame, tuned: Tuned, longest: Mapping[str, int]) -> pd.DataFrame:
    """Return a board with the setting of each line, and how many of its seeds failed; `longest`: by line."""
    settings, failed = [], []
    for task, line, rule in zip(board["task"], board["line"], board["rule"], strict=True):
        chosen = tuned.chosen(task, line)
        untuned = f"{LAST} weights" if rule == CHOSEN else ""
        settings.append(setting_text(chosen, with_weights=rule == CHOSEN) if chosen else untuned)
        results = rows(tested, task=task, line=line, rule=rule)
        has_failed = failures(results, longest[line], tuned.chance[task][longest[line]])
        failed.append(has_failed.sum() if len(results) else None)
    both = board.assign(setting=settings, failed=pd.array(failed, dtype="Int64"))
    first = ["task", "line", "setting", "rule", "n", "failed"]
    return both[list(dict.fromkeys([*first, *both]))]


def setting_text(chosen: Tried, *, with_weights: bool) -> str:
    """Return the values of a setting, each with the last part of its key, and the weights that were chosen."""
    names = labels(chosen.setting)
    parts = [f"{names[key]} {value}" for key, value in chosen.setting.items()]
    if with_weights:
        parts.append(f"{chosen.chosen} weights")
    return ", ".join(parts)


def labels(keys: Iterable[str]) -> dict[str, str]:
    """Return of each dotted key its last part, or the whole where others end alike."""
    counts = Counter(key.rpartition(".")[2] for key in keys)
    return {key: last if counts[last := key.rpartition(".")[2]] == 1 else key for key in keys}


def settings_of_study(
    tested: pd.DataFrame, study: Study, tuned: Tuned, longest: Mapping[str, int], sequences: int
) -> pd.DataFrame:
    """Return a row a task, line and setting: its keys, seeds, failures and losses, and whether it was chosen.

    And the accuracies of the seeds that choose, and the gain over the line's first baseline at the same setting.
    `tested`: results by rule of settings, by the names of their runs; `longest`: by line.
    """
    settings = pd.DataFrame(_rows_of_settings(study, tuned))
    shares = {key: _redrawn(tested, study, tuned, *key) for key in product(tuned.tried, study.names)}
    cells = zip(settings["task"], settings["line"], settings["run"], strict=True)
    settings["redrawn"] = [shares[task, line].get(run, np.nan) for task, line, run in cells]
    longest_of_runs = {run: longest[line] for run, line in zip(settings["run"], settings["line"], strict=True)}
    whole = without_diverged(tested)
    of_choice = whole[whole["seed"].isin(tuned.choosing)]
    measured = []
    for task, of_task in settings.groupby("task", sort=False):
        at_length = _at_length(rows(of_choice, task=task), of_task, longest_of_runs)
        measured.append(_measured(of_task, at_length, longest_of_runs, sequences))
    settings = settings.merge(pd.concat(measured), how="left", on=["task", *OF_GAIN])
    return settings.drop(columns=["partner", "partner_rule"])


def _rows_of_settings(study: Study, tuned: Tuned) -> Iterator[dict[str, Any]]:
    """Yield what the choice has of each setting; `partner`: the runs of the line's first baseline at the same one.

    `rule` and `partner_rule`: the weights with which each has its lower loss.

    A setting in which a seed failed, of the line or of the baseline, has no partner.
    """
    baselines = dict(reversed(study.pairs))
    keys = [key for line in study.names for key in study.grid(line)]
    for task, line in product(tuned.tried, study.names):
        baseline = baselines.get(line, "")
        of_baseline = tuned.settings(task, baseline)
        for tried in tuned.settings(task, line):
            row = {"task": task, "line": line, **dict.fromkeys(keys), **tried.setting, "run": tried.name}
            row |= {"seeds": tried.seeds, "failed": tried.failed, "chosen": tried.chosen, "rule": tried.weights}
            row |= {f"loss_{rule}": loss for rule, loss in tried.losses.items()}
            same = (other for other in of_baseline if other.setting == tried.setting)
            partners = ((other.name, other.weights) for other in same if not other.failed and not tried.failed)
            partner, rule = next(partners, ("", ""))
            yield {**row, "baseline": baseline, "partner": partner, "partner_rule": rule}


def _redrawn(tested: pd.DataFrame, study: Study, tuned: Tuned, task: str, line: str) -> dict[str, float]:
    """Return by run in what percentage of REDRAWS its loss is the lowest of the line, of settings without failures."""
    of_choice: dict[tuple[str, str], pd.Series[float]] = {}
    for tried, rule in product(tuned.settings(task, line), study.weights(line)):
        if not tried.failed:
            results = rows(tested, task=task, line=tried.name, rule=rule)
            of_choice[tried.name, rule] = log_losses(results[results["seed"].isin(tuned.choosing)])
    losses = pd.DataFrame(of_choice).dropna()  # seeds that all settings have
    if losses.empty:
        return {}
    drawn = stream(0, "redrawn", task, line).integers(len(losses), size=(REDRAWS, len(losses)))
    best = losses.to_numpy()[drawn].mean(axis=1).argmin(axis=1)
    shares: dict[str, float] = {}
    for place, (run, _) in enumerate(of_choice):
        shares[run] = shares.get(run, 0) + 100 * float(np.mean(best == place))
    return shares


def _at_length(tested: pd.DataFrame, settings: pd.DataFrame, longest: Mapping[str, int]) -> pd.DataFrame:
    """Return the results, on one task, of models that were tested at all lengths; seeds that all settings have.

    Nothing where all were tested at training lengths alone; `longest`: of these, by run.
    """
    by_run = dict(iter(tested.groupby("line")))
    common: dict[str, set[Any]] = {}
    for _, of_line in settings.groupby("line"):
        seeds = common_seeds(by_run[run] for run in of_line["run"] if run in by_run)
        common |= dict.fromkeys(of_line["run"], seeds)
    runs_and_seeds = zip(tested["line"], tested["seed"], strict=True)
    is_common = np.array([seed in common.get(run, ()) for run, seed in runs_and_seeds], dtype=bool)
    lengths = tested.groupby([*MODEL, "rule"])["length"]
    is_whole = lengths.transform("nunique") == tested["length"].nunique()
    is_beyond = lengths.transform("max") > tested["line"].map(longest)
    return tested[is_whole & is_beyond & is_common]


def _measured(settings: pd.DataFrame, tested: pd.DataFrame, longest: Mapping[str, int], sequences: int) -> pd.DataFrame:
    """Return ACCURACY of settings, and GAIN over their partners, where they were tested at all lengths."""
    columns = {**ACCURACY, **GAIN}
    pairs = settings[OF_GAIN].drop_duplicates()
    by_weights = tested.assign(line=tested["line"] + " " + tested["rule"], rule=CHOSEN)
    lines = pairs["run"] + " " + pairs["rule"]
    baselines = (pairs["partner"] + " " + pairs["partner_rule"]).str.strip()  # "" without a partner
    of_lines = dict(zip(lines, pairs["run"].map(longest), strict=True))
    both = list(zip(lines, baselines, strict=True))
    frame = compare(by_weights, both, of_lines, sequences, list(columns.values()), [CHOSEN])
    measured = view(frame, columns).drop(columns=["rule", *(f"{name}_n" for name in columns)]).round(6)
    named = pairs.assign(line=lines, baseline=baselines)
    return named.merge(measured, on=["line", "baseline"]).drop(columns=["line", "baseline"])


def kept_on_steps(study: Study) -> list[str]:
    """Return a line for each tuned line that is kept where steps are halved around the best setting of others."""
    if not study.choose or not study.choose.refine or not study.lines:
        return []
    kept = [line for line in tuned_lines(study) if line not in study.lines]
    return [
        f"*{line}* is kept: unlike those of lines that are trained, the steps around its best setting were not halved."
        for line in kept
    ]


def settings_tables(settings: pd.DataFrame, notes: list[str]) -> str:
    """Return the settings as Markdown, a table a task, rows in the order of their values; shared runs stand once."""
    chosen = settings.groupby(["task", "run"])["chosen"].transform(" ".join)  # by any line that has the run
    once = settings.assign(chosen=chosen).drop_duplicates(["task", "run"])
    columns = [str(name) for name in settings]
    keys = columns[columns.index("line") + 1 : columns.index("run")]
    places = once.assign(place=pd.factorize(once["line"])[0])
    in_order = places.sort_values(["place", *keys], kind="stable")
    parts = []
    for task in settings["task"].unique():
        cells = _cells(rows(in_order, task=task), keys)
        parts += [f"## Settings on {task}", table_of(cells, texts=1 + len(keys))]
        parts += _at_ends(rows(settings, task=task), keys)
    return "\n" + "\n\n".join([*parts, *notes, NOTE]) + "\n"


def _cells(settings: pd.DataFrame, keys: list[str]) -> pd.DataFrame:
    """Return settings as text, below the words of a table."""
    cells = settings[["line"]].copy()
    for key in keys:
        cells[key] = [_value(value) for value in settings[key]]
    for name in ("seeds", "failed"):
        cells[name] = settings[name].astype(str)
    for column in settings.filter(regex="^loss_"):
        rule = str(column).removeprefix("loss_")
        losses = settings[column].map(partial(estimate, ".3f"))
        is_chosen = [rule in chosen.split() for chosen in settings["chosen"]]
        cells[f"log loss, {rule}"] = losses.mask(pd.Series(is_chosen, losses.index), "**" + losses + "**")
    cells["redrawn (%)"] = settings["redrawn"].map(partial(estimate, ".0f"))
    cells["beyond (%)"] = texts_of_seeds(settings, "beyond", ".1f", "seeds")
    cells["gain (pp)"] = texts_of_seeds(settings, "difference", "+.1f", "seeds")
    cells["gain at the longest (pp)"] = texts_of_seeds(settings, "difference_longest", "+.1f", "seeds")
    return cells.rename(columns=labels(keys))


def _value(value: Any) -> str:
    """Return a value of a key as text; – where a line is not tuned in it."""
    text = f"{value:g}" if isinstance(value, float) else str(value)
    return MISSING if pd.isna(value) else text


def _at_ends(settings: pd.DataFrame, keys: list[str]) -> Iterator[str]:
    """Yield a line for each chosen number that is the smallest or largest which was tried, with seeds that trained."""
    chosen = settings[settings["chosen"] != ""]
    for key in settings[keys].select_dtypes("number"):
        for line, value in zip(chosen["line"], chosen[key], strict=True):
            tried = rows(settings, line=line)[key]
            smallest, largest = tried.min(), tried.max()
            if smallest < largest and value in (smallest, largest):
                end = "smallest" if value == smallest else "largest"
                said = f"*{line}* has its lowest loss at the {end} {labels(keys)[str(key)]} that was tried"
                yield f"{said}, {value:g}: a better one may lie beyond."
