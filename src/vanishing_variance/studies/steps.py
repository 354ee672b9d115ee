"""The gain of each line of a study after some steps of training, whose weights were kept."""

from collections.abc import Mapping

import pandas as pd

from vanishing_variance.harness.markdown import table
from vanishing_variance.harness.numbers import MISSING
from vanishing_variance.results.accuracy import percent_by_length, rows
from vanishing_variance.results.compare.gains import columns, texts_of_seeds
from vanishing_variance.results.compare.pairs import of_both, percent_beyond
from vanishing_variance.statistics.paired import Difference, difference
from vanishing_variance.studies.study import Study

LAST = "last"
STEP = "step_"
NOTE = (
    "*After so many steps* of the same trainings, at the rate that they had there: the gain beyond training in points, "
    "paired by seed, with 95% intervals."
)


def steps_section(results: pd.DataFrame, study: Study, longest: Mapping[str, int]) -> str:
    """Return the gains by steps as Markdown, a table a task; nothing where no weights were kept.

    `results`: of `reading.by_rule`; `longest`: of training, by range.
    """
    frames = []
    for line, baseline in study.pairs:
        frames.append(gains_by_steps(results, line, baseline, longest[study.range_of(line)]))
    gains = pd.concat(frames) if frames else pd.DataFrame()
    if gains.empty:
        return ""
    cells = gains.assign(cell=texts_of_seeds(gains, "difference", "+.1f", "n"))
    parts = []
    for task, of_task in cells.groupby("task", sort=False):
        wide = of_task.pivot_table("cell", ["line", "baseline"], "steps", aggfunc="first", sort=False)
        steps = sorted(wide, key=lambda name: (name == LAST, name))
        heads = ["line", "baseline", *(str(name).lstrip("0") for name in steps)]
        parts += [
            f"## Gain by steps on {task}",
            table(heads, wide[steps].fillna(MISSING).reset_index().to_numpy(), texts=2),
        ]
    return "\n" + "\n\n".join([*parts, NOTE]) + "\n"


def gains_by_steps(results: pd.DataFrame, line: str, baseline: str, longest: int) -> pd.DataFrame:
    """Return a row a task and number of steps: line, baseline, steps, n and difference, in points beyond training.

    `steps` is that of the rule, eight digits, or LAST, after the others; a task without kept weights has no rows.
    """
    found = []
    for task, of_task in results.groupby("task", sort=False):
        kept = kept_steps(of_task)
        for rule in [*kept, LAST] if kept else []:
            gain = gain_beyond(of_task, line, baseline, rule, longest)
            about = {"task": task, "line": line, "baseline": baseline, "n": gain.n, "steps": rule.removeprefix(STEP)}
            found.append(about | columns("difference", (gain.mean, gain.low, gain.high)))
    return pd.DataFrame(found)


def kept_steps(tested: pd.DataFrame) -> dict[str, int]:
    """Return the numbers of steps after which weights were kept, in order, by the name of the rule."""
    rules = sorted(rule for rule in tested["rule"].dropna().unique() if rule.startswith(STEP))
    return {rule: int(rule.removeprefix(STEP)) for rule in rules}


def gain_beyond(of_task: pd.DataFrame, line: str, baseline: str, rule: str, longest: int) -> Difference:
    """Return the gain of a line on one task by one rule, in points beyond training, paired by seed."""
    arms = (percent_by_length(rows(of_task, line=name, rule=rule)) for name in (line, baseline))
    ours, theirs = of_both(*(percent_beyond(arm, longest) for arm in arms))
    return difference(ours.to_numpy(), theirs.to_numpy())
