"""Each arm at its best: `python studies/best/answer.py`, by plan.md, beside it; of the results of studies in git.

Writes rates.md: the mean over seeds of the log loss on held-out sequences of the training lengths, a row a task,
schedule, rule and arm, a column a rate, the lowest marked, which was chosen. And answer.md: the gain of `ln` at the
chosen rates, a row a task, schedule and rule, and rows of each arm at its best: of its schedules and rules, and then of
its numbers of steps, too, the one with the lowest log loss. Below, added after the results: the cells in which a seed
of `none` failed, without it, and the three changes against each arm at its best.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import stats

from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.numbers import estimate, table
from vanishing_variance.harness.script import run_script
from vanishing_variance.harness.sections import PATH
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.results.columns import rows
from vanishing_variance.results.comparison import BEYOND, Arms, estimate_of, mean_beyond, paired, percent_by_length
from vanishing_variance.results.schema import by_rule
from vanishing_variance.statistics.comparisons import holm
from vanishing_variance.statistics.intervals import NAN, interval
from vanishing_variance.studies.parameters import unchecked_params
from vanishing_variance.studies.reading import read_all

HERE = Path(__file__).parent
# By the name of a study its number of steps, where it is not that of `best`.
RATES_OF = {"best-rates": "", "best-majority": "", "best-argmax": ""}
LONGER = {"best-long": "40,000 steps", "best-argmax-long": "100,000 steps"}
TESTED_IN = {"best": "", "best-majority": "", "best-argmax": ""} | LONGER
# Schedule and rule; of a falling rate averaged weights are the last ones, nearly.
CELLS = (("constant", "last"), ("constant", "averaged"), ("falls", "last"))
LONGEST_TRAINED, SEQUENCES = 16, 512
TRAINED = 99.0  # percent at the shortest length, below which `none` did not train, and the gain says nothing
FAILED = 50.0  # a seed below it there failed
SMALLEST = 5e-7  # half of the last digit of losses in results: those of 0 count as it
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


class Cell(NamedTuple):
    """Trainings of one task and number of steps (none: that of `best`) by one schedule, tested by one rule."""

    task: str
    steps: str
    schedule: str
    rule: str

    @property
    def name(self) -> str:
        """Return the task, with the steps where they are not those of `best`."""
        return ", ".join(filter(None, self[:2]))

    @property
    def how(self) -> str:
        """Return the schedule and rule."""
        return f"{self.schedule}, {self.rule}"


def main() -> None:
    """Write the tables."""
    for name, text in tables().items():
        write_text(HERE / name, text)


def tables() -> dict[str, str]:
    """Return both files."""
    losses = mean_log_losses(read(RATES_OF | LONGER))
    tested = read(TESTED_IN)
    of_tasks = tested[["task", "steps"]].drop_duplicates().to_numpy()
    cells = [Cell(task, steps, *of_test) for task, steps in of_tasks for of_test in CELLS]
    parts = [
        "# Each arm at its best",
        answer_table(tested, cells, losses),
        NOTE,
        f"## Without the seeds of *none* under {FAILED:g}% at 2^4",
        without_failed(tested, cells),
        "## The three changes against each arm at its best",
        three_changes_table(tested, cells, losses),
        THREE_CHANGES_NOTE,
    ]
    return {"rates.md": rates_table(losses), "answer.md": "\n\n".join(parts) + "\n"}


def read(names: Mapping[str, str]) -> pd.DataFrame:
    """Return the results of studies by rule, with steps, rate and log loss."""
    params = read_yaml(PATH)
    found = []
    for name, steps in names.items():
        study, results = read_all(name, params)
        rates = {line: unchecked_params(params, study, line)["training"]["learning_rate"] for line in study.names}
        tested = by_rule(results)
        log_loss = np.log(tested["loss"].astype(float).clip(lower=SMALLEST))
        found.append(tested.assign(steps=steps, rate=tested["line"].map(rates), log_loss=log_loss))
    return pd.concat(found, ignore_index=True)


def mean_log_losses(tested: pd.DataFrame) -> pd.DataFrame:
    """Return the mean over seeds of the log loss: a row a cell and arm, a column a rate.

    Of the seeds that have a loss at all rates of a row: not of those that were trained at the chosen one alone.
    """
    models = tested.join(tested["line"].str.extract(r"(?P<arm>\w+)-(?P<schedule>\w+)"))
    keys = [*Cell._fields, "arm"]
    losses = models[models["rule"].isin(("last", "averaged"))].pivot_table("log_loss", [*keys, "seed"], "rate")
    means = {row: of_row.dropna(axis=1, how="all").dropna().mean() for row, of_row in losses.groupby(keys)}
    return pd.DataFrame(means).T.sort_index(axis=1)


def rates_table(losses: pd.DataFrame) -> str:
    """Return the losses as Markdown, the lowest of each row in bold."""
    lines = []
    for (*of_cell, arm), row in zip(losses.index, losses.to_numpy(), strict=True):
        cell = Cell(*of_cell)
        numbers = [estimate(".3f", value) for value in row]
        lowest = int(np.nanargmin(row))
        numbers[lowest] = f"**{numbers[lowest]}**"
        lines.append([cell.name, cell.schedule, cell.rule, arm, *numbers])
    heads = ["task", "schedule", "rule", "arm", *(f"{rate:g}" for rate in losses.columns)]
    return "# Mean log loss (nats) by learning rate\n\n" + table(heads, lines, texts=4) + "\n"


def answer_table(tested: pd.DataFrame, cells: list[Cell], losses: pd.DataFrame) -> str:
    """Return as Markdown the gain of LN in each cell, and of the arms at their best."""
    lines, of_cells = [], []
    for ln, none in compared(cells, losses):
        arms = Arms(results_of(tested, "ln", ln), results_of(tested, "none", none), LONGEST_TRAINED, SEQUENCES)
        ours, theirs = arms.paired
        points = paired(arms)
        did_train = theirs.iloc[:, 0].mean() >= TRAINED
        of_cells.append(points.p if ln == none else NAN)
        lines.append(
            [
                ln.name if ln.name == none.name else f"ln: {ln.name}; none: {none.name}",
                ln.how if ln == none else f"at its best: ln {ln.how}, none {none.how}",
                str(points.n),
                *(f"{percent[BEYOND].mean():.1f}" for percent in (theirs, ours)),
                estimate("+.1f", *estimate_of(arms, "difference")) + ("" if did_train else "\\*"),
                f"{points.p:.2g}",
                estimate("+.2f", *estimate_of(arms, "log_odds", arms.lengths[-1])),
                *(estimate("+.1f", *estimate_of(arms, f"at_{whose}_loss")) for whose in ("baseline", "own")),
            ]
        )
    heads = ["task", "schedule, rule", "n", "none (%)", "ln (%)", "gain (pp)", "p", "log-odds"]
    heads += ["at none's loss (pp)", "at ln's loss (pp)"]
    for line, corrected in zip(lines, holm(np.array(of_cells)), strict=True):
        if not np.isnan(corrected):
            line[heads.index("p")] = f"{corrected:.2g}"
    return table(heads, lines, texts=2)


def without_failed(tested: pd.DataFrame, cells: list[Cell]) -> str:
    """Return as Markdown the gain in cells in which seeds of none failed, without these."""
    lines = []
    for cell in cells:
        ln, none = percents(*(results_of(tested, arm, cell) for arm in ("ln", "none")))
        trained = none.iloc[:, 0] >= FAILED
        if not trained.all():
            gains = (beyond(ln) - beyond(none))[trained]
            lines.append([cell.name, cell.how, str(len(gains)), estimate("+.1f", *interval(gains.to_numpy()))])
    return table(["task", "schedule, rule", "n", "gain (pp)"], lines, texts=2)


def three_changes_table(tested: pd.DataFrame, cells: list[Cell], losses: pd.DataFrame) -> str:
    """Return as Markdown the gains of the three changes, a row a task and arm."""
    fresh = rows(by_rule(read_all("fresh", read_yaml(PATH))[1]), line="three-changes-none", rule="last")
    lines = []
    for task, changed in fresh.groupby("task"):
        ours = beyond(percent_by_length(changed))
        for arm in ("none", "ln"):
            best = at_best(arm, [cell for cell in cells if cell.task == task], losses)
            theirs = beyond(percent_by_length(results_of(tested, arm, best)))
            ends = stats.ttest_ind(ours, theirs, equal_var=False).confidence_interval()
            points = estimate("+.1f", ours.mean() - theirs.mean(), ends.low, ends.high)
            counts, means = (f"{len(theirs)}", f"{len(ours)}"), (f"{theirs.mean():.1f}", f"{ours.mean():.1f}")
            lines.append([best.task, f"{arm}, {best.name}, {best.how}", *counts, *means, points])
    heads = ["task", "over", "n", "n of three changes", "arm (%)", "three changes (%)", "gain (pp)"]
    return table(heads, lines, texts=2)


def compared(cells: list[Cell], losses: pd.DataFrame) -> list[tuple[Cell, Cell]]:
    """Return the cells of LN and none: each cell, and the arms at their best where these are not one cell.

    First of the steps of `best`, after their cells, at the end of all steps.
    """
    pairs = []
    for cell in cells:
        pairs.append((cell, cell))
        last_of_its_steps = (cell.schedule, cell.rule) == CELLS[-1]
        if last_of_its_steps and not cell.steps:
            pairs.append(both_at_best([other for other in cells if other[:2] == cell[:2]], losses))
    for task in dict.fromkeys(cell.task for cell in cells):
        pairs.append(both_at_best([cell for cell in cells if cell.task == task], losses))
    return list(dict.fromkeys(pairs))


def both_at_best(cells: list[Cell], losses: pd.DataFrame) -> tuple[Cell, Cell]:
    """Return the cells in which LN and none have their lowest log loss."""
    return at_best("ln", cells, losses), at_best("none", cells, losses)


def at_best(arm: str, cells: list[Cell], losses: pd.DataFrame) -> Cell:
    """Return the cell in which an arm has its lowest log loss."""
    lowest = losses.min(axis=1)
    return min(cells, key=lambda cell: float(lowest[(*cell, arm)]))


def results_of(tested: pd.DataFrame, arm: str, cell: Cell) -> pd.DataFrame:
    """Return the results of an arm's cell, of the line with the rule in its name where the rules chose two rates."""
    of_rule = rows(tested, task=cell.task, steps=cell.steps, rule=cell.rule)
    own = rows(of_rule, line=f"{arm}-{cell.schedule}-{cell.rule}")
    return own if len(own) else rows(of_rule, line=f"{arm}-{cell.schedule}")


def percents(*arms: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the accuracies of two arms in percent, a row a seed that both have, a column a length."""
    ours, theirs = (percent_by_length(arm) for arm in arms)
    return ours.align(theirs, join="inner", axis="index")


def beyond(percent: pd.DataFrame) -> "pd.Series[float]":
    """Return each seed's mean over the lengths beyond training."""
    return mean_beyond(percent, LONGEST_TRAINED)


if __name__ == "__main__":
    run_script(main)
