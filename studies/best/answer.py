"""Each arm at its best: `python studies/best/answer.py`, once the studies named here have run; by plan.md, beside it.

Writes rates.md: the mean over seeds of the log loss on held-out sequences of the training lengths, a row a task,
schedule, rule and arm, a column a rate, the lowest marked, which was chosen. And answer.md: the gain of `ln` at the
chosen rates, a row a task, schedule and rule, and rows of each arm at its best: of its schedules and
rules, and then of its numbers of steps, too, the one with the lowest log loss. Below, added after the results: the
cells in which a seed of `none` failed, without it, and the three changes against each arm at its best.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.markdown import table
from vanishing_variance.harness.numbers import estimate
from vanishing_variance.harness.script import run_script
from vanishing_variance.harness.sections import PATH
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.results.accuracy import percent_by_length, rows
from vanishing_variance.results.compare.gains import gain
from vanishing_variance.results.compare.pairs import of_both, percent_beyond
from vanishing_variance.statistics.adjusted import Estimate
from vanishing_variance.statistics.holm import holm
from vanishing_variance.statistics.intervals import NAN, interval
from vanishing_variance.studies.equal_loss import VIEWS, at_equal_loss
from vanishing_variance.studies.line import STUDIES
from vanishing_variance.studies.parameters import held_out, unchecked_params
from vanishing_variance.studies.reading import by_rule, read_all
from vanishing_variance.studies.study import read_study

HERE = Path(__file__).parent
RATES_OF = ("best-rates", "best-majority", "best-argmax", "best-long", "best-argmax-long")
TESTED_IN = ("best", "best-majority", "best-argmax", "best-long", "best-argmax-long")
LONGER = {"best-long": ", 40,000 steps", "best-argmax-long": ", 100,000 steps"}  # behind the name of the task
KEYS = ["task", "schedule", "rule", "arm"]
Cell = tuple[str, str, str]  # KEYS without the arm
# Of each task: a schedule, and the rule of the test. Of a falling rate averaged weights are the last ones, nearly.
CELLS = (("constant", "last"), ("constant", "averaged"), ("falls", "last"))
LONGEST_TRAINED = 16
# Percent at the shortest length, below which `none` did not train, and the gain says nothing.
TRAINED = 99.0
# A seed below it there failed.
FAILED = 50.0
# Half of the last digit of losses in results: those of 0 count as it.
SMALLEST = 5e-7
NOTE = (
    "Gains of `ln` in points beyond training (2^5 to 2^14), paired by seed, with 95% intervals over n seeds; p after "
    "Holm's correction over all rows but *at its best* (the plan: six). *At its best*: each arm by its own schedule "
    "and rule, in the last row also by its steps. Log-odds: at 2^14. *At none's loss*, *at ln's*: the points that are "
    "left at equal log loss, the mean of either arm, by a regression line an arm, not paired, extrapolated where the "
    "arms' losses do not overlap; –: losses are missing, or too small for their digits. \\*: *none* has under 99% at "
    "2^4, so it did not train, and by the plan its gain says nothing. Of argmax with 100,000 steps seeds 136 to 143 "
    "chose the rates, by their loss. Rates: [rates.md](rates.md); plan: [plan.md](plan.md)."
)
THREE_CHANGES_NOTE = (
    "Seeds 16 to 23 of [`fresh`](../fresh/board.md) (the paper's steps), last weights, without LN, beyond training; "
    "points over other seeds of the arm at its lowest loss, with Welch's 95% interval. This table and the one above it "
    "were added after the results."
)


@dataclass(frozen=True)
class Gain:
    """The gain of a cell of `ln` over one of `none`: in points with its p, and in log-odds; mean accuracies (%).

    `at_loss`: the points at equal loss, at that of `none` and at that of `ln`; `trained`: whether `none` did.
    """

    ln: Cell
    none: Cell
    n: int
    p: float
    points: Estimate
    log_odds: Estimate
    at_loss: tuple[Estimate, Estimate]
    beyond_ln: float
    beyond_none: float
    trained: bool

    @property
    def is_of_a_cell(self) -> bool:
        """Return whether both arms have one schedule, rule and number of steps."""
        return self.ln == self.none


def main() -> None:
    """Write and print the tables."""
    for name, text in tables().items():
        write_text(HERE / name, text)
        print(text)


def tables() -> dict[str, str]:
    """Return both files, of the studies' results in git."""
    log_loss = mean_log_losses(_results(RATES_OF))
    params = read_yaml(PATH)
    (sequences,) = {held_out(params, read_study(name))["sequences"] for name in TESTED_IN}
    tested = _results(TESTED_IN)
    cells = _cells(tested)
    parts = [
        "# Each arm at its best",
        answer_table(tested, cells, log_loss, sequences),
        NOTE,
        f"## Without the seeds of *none* under {FAILED:g}% at 2^4",
        without_failed(tested, cells),
        "## The three changes against each arm at its best",
        three_changes_table(tested, cells, log_loss),
        THREE_CHANGES_NOTE,
    ]
    return {"rates.md": rates_table(log_loss), "answer.md": "\n\n".join(parts) + "\n"}


def _results(names: Iterable[str]) -> pd.DataFrame:
    """Return the results of studies by rule, of those that have run: with the learning rate and the log loss."""
    params = read_yaml(PATH)
    found = []
    for name in names:
        if (STUDIES / name / "board.csv").exists():
            study, results = read_all(name, params)
            rates = {line: unchecked_params(params, study, line)["training"]["learning_rate"] for line in study.names}
            tested = by_rule(results)
            tested["task"] += LONGER.get(name, "")
            tested["rate"] = tested["line"].map(rates)
            tested["log_loss"] = np.log(tested["loss"].astype(float).clip(lower=SMALLEST))
            found.append(tested)
    return pd.concat(found, ignore_index=True)


def mean_log_losses(tested: pd.DataFrame) -> pd.DataFrame:
    """Return the mean over seeds of the log loss: a row a task, schedule, rule and arm, a column a rate.

    Of the seeds that have a loss at all rates of a row: not of those that were trained at the chosen one alone.
    """
    models = tested.join(tested["line"].str.extract(r"(?P<arm>\w+)-(?P<schedule>\w+)"))
    of_rules = models[models["rule"].isin({rule for _, rule in CELLS})]
    losses = of_rules.pivot_table("log_loss", [*KEYS, "seed"], "rate")
    means = {keys: row.dropna(axis=1, how="all").dropna().mean() for keys, row in losses.groupby(KEYS)}
    return pd.DataFrame(means).T.rename_axis(KEYS).sort_index(axis=1)


def rates_table(means: pd.DataFrame) -> str:
    """Return the table as Markdown, the lowest of each row in bold."""
    lines = []
    for keys, row in zip(means.index, means.to_numpy(), strict=True):
        cells = [estimate(".3f", value) for value in row]
        best = int(np.nanargmin(row))
        cells[best] = f"**{cells[best]}**"
        lines.append([*keys, *cells])
    heads = [*KEYS, *(f"{rate:g}" for rate in means.columns)]
    return "# Mean log loss (nats) by learning rate\n\n" + table(heads, lines, texts=len(KEYS)) + "\n"


def answer_table(tested: pd.DataFrame, cells: Mapping[str, list[Cell]], log_loss: pd.DataFrame, sequences: int) -> str:
    """Return the gains as Markdown; `tested`: the results, by rule; `sequences`: tested a length."""
    gains = list(_gains(tested, cells, log_loss, sequences))
    of_cells = [found.p if found.is_of_a_cell else NAN for found in gains]
    lines = []
    for found, corrected in zip(gains, holm(np.array(of_cells)), strict=True):
        (task, *ours), (of_none, *theirs) = found.ln, found.none
        how, p = ", ".join(ours), corrected
        if not found.is_of_a_cell:
            how = f"at its best: ln {how}, none {', '.join(theirs)}{of_none.removeprefix(task)}"
            p = found.p
        points = estimate("+.1f", *found.points)
        others = [estimate("+.2f", *found.log_odds), *(estimate("+.1f", *left) for left in found.at_loss)]
        means = (f"{found.beyond_none:.1f}", f"{found.beyond_ln:.1f}")
        mark = "" if found.trained else "\\*"
        lines.append([task, how, str(found.n), *means, points + mark, f"{p:.2g}", *others])
    heads = ["task", "schedule, rule", "n", "none (%)", "ln (%)", "gain (pp)", "p", "log-odds"]
    heads += ["at none's loss (pp)", "at ln's loss (pp)"]
    return table(heads, lines, texts=2)


def without_failed(tested: pd.DataFrame, cells: Mapping[str, list[Cell]]) -> str:
    """Return as Markdown the gain in cells in which seeds of none failed, without these."""
    lines = []
    for cell in (cell for of_task in cells.values() for cell in of_task):
        ln, none = of_both(*(percent_by_length(_of_cell(tested, arm, cell)) for arm in ("ln", "none")))
        trained = none.iloc[:, 0] >= FAILED
        if not trained.all():
            gains = (percent_beyond(ln, LONGEST_TRAINED) - percent_beyond(none, LONGEST_TRAINED))[trained]
            points = estimate("+.1f", *interval(gains.to_numpy()))
            lines.append([cell[0], ", ".join(cell[1:]), str(len(gains)), points])
    return table(["task", "schedule, rule", "n", "gain (pp)"], lines, texts=2)


def three_changes_table(tested: pd.DataFrame, cells: Mapping[str, list[Cell]], log_loss: pd.DataFrame) -> str:
    """Return as Markdown the gains of the three changes, a row a task and arm."""
    fresh = by_rule(read_all("fresh", read_yaml(PATH))[1])
    lines = []
    for task in fresh["task"].unique():
        changed = percent_by_length(rows(fresh, task=task, line="three-changes-none", rule="last"))
        ours = percent_beyond(changed, LONGEST_TRAINED)
        for arm in ("none", "ln"):
            best = _at_best(tested, _of_all_steps(cells, task), arm, log_loss)
            theirs = percent_beyond(percent_by_length(_of_cell(tested, arm, best)), LONGEST_TRAINED)
            low, high = stats.ttest_ind(ours, theirs, equal_var=False).confidence_interval()
            points = estimate("+.1f", ours.mean() - theirs.mean(), low, high)
            means = (f"{theirs.mean():.1f}", f"{ours.mean():.1f}")
            lines.append([task, ", ".join([arm, *best]), str(len(theirs)), str(len(ours)), *means, points])
    heads = ["task", "over", "n", "n of three changes", "arm (%)", "three changes (%)", "gain (pp)"]
    return table(heads, lines, texts=2)


def _cells(tested: pd.DataFrame) -> dict[str, list[Cell]]:
    """Return the cells that have run, by task with its steps."""
    has_run = {}
    for task in tested["task"].unique():
        lines = set(rows(tested, task=task)["line"])
        has_run[task] = [(task, *cell) for cell in CELLS if {f"ln-{cell[0]}", f"none-{cell[0]}"} <= lines]
    return has_run


def _of_all_steps(cells: Mapping[str, list[Cell]], task: str) -> list[Cell]:
    """Return the cells of a task, of all its numbers of steps."""
    return [cell for name in ("", *LONGER.values()) for cell in cells.get(task + name, [])]


def _gains(
    tested: pd.DataFrame, cells: Mapping[str, list[Cell]], log_loss: pd.DataFrame, sequences: int
) -> Iterator[Gain]:
    """Yield the gain of each cell, and of the arms at their best, where these are two cells: also over steps."""
    shorter = [task for task in cells if not task.endswith(tuple(LONGER.values()))]
    for task, of_task in cells.items():
        for cell in of_task:
            yield _gain(tested, cell, cell, sequences)
        if task in shorter and len(of_task) == len(CELLS):
            yield from _between_best(tested, of_task, log_loss, sequences)
    for task in shorter:
        candidates = _of_all_steps(cells, task)
        if candidates != cells[task]:
            yield from _between_best(tested, candidates, log_loss, sequences)


def _between_best(tested: pd.DataFrame, cells: list[Cell], log_loss: pd.DataFrame, sequences: int) -> Iterator[Gain]:
    """Yield the gain between the cells in which each arm is at its best, where they are not the same."""
    ours, theirs = (_at_best(tested, cells, arm, log_loss) for arm in ("ln", "none"))
    if ours != theirs:
        yield _gain(tested, ours, theirs, sequences)


def _at_best(tested: pd.DataFrame, cells: list[Cell], arm: str, log_loss: pd.DataFrame) -> Cell:
    """Return the cell in which an arm has its lowest log loss."""
    return min(cells, key=lambda cell: _lowest(tested, arm, cell, log_loss))


def _lowest(tested: pd.DataFrame, arm: str, cell: Cell, log_loss: pd.DataFrame) -> float:
    """Return a cell's lowest mean log loss over rates, or that of its tested seeds where none chose."""
    lowest = log_loss.min(axis=1)
    if (*cell, arm) in lowest.index:
        return float(lowest[(*cell, arm)])
    return float(_of_cell(tested, arm, cell)["log_loss"].mean())


def _gain(tested: pd.DataFrame, ours: Cell, theirs: Cell, sequences: int) -> Gain:
    """Return the gain of LN in one cell over none in another, of the seeds that both have."""
    arms = (_of_cell(tested, "ln", ours), _of_cell(tested, "none", theirs))
    ln, none = of_both(*(percent_by_length(arm) for arm in arms))
    points, views = gain(ln, none, LONGEST_TRAINED, sequences)
    beyond_ln, beyond_none = (float(percent_beyond(arm, LONGEST_TRAINED).mean()) for arm in (ln, none))
    trained = bool(none.iloc[:, 0].mean() >= TRAINED)
    odds = views["log_odds_longest"]
    left = at_equal_loss(*arms, LONGEST_TRAINED)
    at_loss = (_estimate(left, VIEWS[0]), _estimate(left, VIEWS[1]))
    return Gain(ours, theirs, points.n, points.p, views["difference"], odds, at_loss, beyond_ln, beyond_none, trained)


def _estimate(found: dict[str, float], name: str) -> Estimate:
    return found.get(name, NAN), found.get(f"{name}_low", NAN), found.get(f"{name}_high", NAN)


def _of_cell(tested: pd.DataFrame, arm: str, cell: Cell) -> pd.DataFrame:
    """Return the results of an arm's cell, of the line with the rule in its name where the rules chose two rates."""
    task, schedule, rule = cell
    of_task = rows(tested, task=task)
    own = f"{arm}-{schedule}-{rule}"
    line = own if own in set(of_task["line"]) else f"{arm}-{schedule}"
    return rows(of_task, line=line, rule=rule)


if __name__ == "__main__":
    run_script(main)
