"""Every gain of the study as Markdown: its three views (`results.gains`), and other summaries of the seeds."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
from jaxtyping import Float

from vanishing_variance.engine.streams import stream
from vanishing_variance.harness.markdown import table
from vanishing_variance.harness.numbers import estimate
from vanishing_variance.results.gains import NOTE, VIEWS, gain
from vanishing_variance.results.paired_tests import pairs
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


def gains_table(accuracy: pd.DataFrame, norm: str, root: int, longest: Mapping[str, int], sequences: int) -> str:
    """Return two tables, a row a pair of `compared` and rule; the second of the rule plain alone.

    `root` is that of the bootstrap's streams, `longest` the training length by range; each accuracy is of so many
    `sequences`.
    """
    views, summaries = [], []
    for names, ours, theirs in pairs(accuracy, norm, list(longest)):
        task, range_, treatment, baseline, rule = names
        head = [task, range_, f"{treatment} − {baseline}", rule, str(len(theirs))]
        _, gains = gain(ours, theirs, longest[range_], sequences)
        views.append([*head, *(estimate(how, *gains[name]) for name, (_, how) in VIEWS.items())])
        if rule == "plain":
            beyond = theirs.columns[theirs.columns.to_numpy() > longest[range_]]
            treated = ours[beyond].mean(axis=1).to_numpy()
            untreated = theirs[beyond].mean(axis=1).to_numpy()
            summaries.append([*head, *_summaries(treated, untreated, stream(root, "bootstrap", *names, "arms"))])
    heads = [head for head, _ in VIEWS.values()]
    parts = [
        "# Gains in three views",
        table([*HEAD, *heads], views, texts=4),
        NOTE,
        table([*HEAD, *SUMMARIES], summaries, texts=4),
        SUMMARY_NOTE,
    ]
    return "\n\n".join(parts) + "\n"


def _summaries(ours: Float[np.ndarray, " S"], theirs: Float[np.ndarray, " S"], rng: np.random.Generator) -> list[str]:
    mean = difference(ours, theirs)
    return [
        estimate("+.1f", mean.mean, mean.low, mean.high),
        estimate("+.1f", *anytime_interval(ours - theirs)),
        estimate("+.1f", *iqm_gain(ours, theirs, rng)),
        estimate(".2f", *probability_of_improvement(ours, theirs, rng)),
    ]
