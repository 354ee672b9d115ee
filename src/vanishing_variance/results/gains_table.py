"""Every gain of the study as Markdown: its three views (`results.gains`), and other summaries of the seeds."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pandas as pd

from vanishing_variance.engine.streams import stream
from vanishing_variance.harness.markdown import table
from vanishing_variance.harness.numbers import estimate
from vanishing_variance.harness.runs import RULES, TASKS, compared
from vanishing_variance.results.accuracy import pair
from vanishing_variance.results.gains import ENDS, NOTE, VIEWS, gain
from vanishing_variance.statistics.anytime import anytime_interval
from vanishing_variance.statistics.paired import difference
from vanishing_variance.statistics.robust import iqm_gain, probability_of_improvement

HEAD = ["task", "range", "gain", "rule", "n"]
SUMMARIES = ["mean (pp)", "anytime (pp)", "IQM (pp)", "probability of improvement"]
SUMMARY_NOTE = (
    "Accuracy beyond training, otherwise summarised. *Mean*: as above, with the usual t interval, which is for one "
    "look. *Anytime*: an interval that stays valid after every block of seeds (mixture t confidence sequence). "
    "*IQM*: the difference of the interquartile means of both arms. *Probability of improvement*: that a seed of the "
    "one is above a seed of the other. The last two are not paired; their intervals are bootstrapped, as in rliable."
)


@dataclass(frozen=True)
class Compared:
    """A pair of variants by one rule: accuracies in percent of the seeds that both have, a column a length."""

    names: tuple[str, str, str, str, str]
    longest: int
    ours: pd.DataFrame
    theirs: pd.DataFrame

    @property
    def cells(self) -> list[str]:
        """The first cells of its rows, HEAD."""
        task, range_, treatment, baseline, rule = self.names
        return [task, range_, f"{treatment} − {baseline}", rule, str(len(self.theirs))]


def gains_table(accuracy: pd.DataFrame, norm: str, root: int, longest: Mapping[str, int], sequences: int) -> str:
    """Return two tables, a row a pair of `compared` and rule; the second of the rule plain alone.

    `root` is that of the bootstrap's streams, `longest` the training length by range; each accuracy is of so many
    `sequences`.
    """
    pairs = list(_pairs(accuracy, norm, longest))
    views = [_views(one, sequences) for one in pairs]
    summaries = [_summaries(one, root) for one in pairs if one.names[-1] == "plain"]
    heads = [head for head, _ in VIEWS.values()]
    parts = [
        "# Gains in three views",
        table([*HEAD, *heads], views, texts=4),
        NOTE,
        table([*HEAD, *SUMMARIES], summaries, texts=4),
        SUMMARY_NOTE,
    ]
    return "\n\n".join(parts) + "\n"


def _pairs(accuracy: pd.DataFrame, norm: str, longest: Mapping[str, int]) -> Iterator[Compared]:
    for task in TASKS:
        for range_ in longest:
            for treatment, baseline in compared(range_, norm):
                for rule in RULES:
                    names = task, range_, treatment, baseline, rule
                    ours, theirs = pair(accuracy, *names)
                    if len(theirs):
                        yield Compared(names, longest[range_], ours, theirs)


def _views(compared: Compared, sequences: int) -> list[str]:
    columns = gain(compared.ours, compared.theirs, compared.longest, sequences).columns()
    cells = [estimate(how, *(columns[f"{name}{end}"] for end in ENDS)) for name, (_, how) in VIEWS.items()]
    return [*compared.cells, *cells]


def _summaries(compared: Compared, root: int) -> list[str]:
    beyond = compared.theirs.columns[compared.theirs.columns.to_numpy() > compared.longest]
    ours, theirs = (arm[beyond].mean(axis=1).to_numpy() for arm in (compared.ours, compared.theirs))
    rng = stream(root, "bootstrap", *compared.names, "arms")
    mean = difference(ours, theirs)
    cells = [
        estimate("+.1f", mean.mean, mean.low, mean.high),
        estimate("+.1f", *anytime_interval(ours - theirs)),
        estimate("+.1f", *iqm_gain(ours, theirs, rng)),
        estimate(".2f", *probability_of_improvement(ours, theirs, rng)),
    ]
    return [*compared.cells, *cells]
