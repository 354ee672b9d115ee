"""The choice of a network on the dictionary: what rules that do not look at `ln` would have chosen, and its gain."""

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter

import numpy as np
import pandas as pd

from vanishing_variance.harness.markdown import table
from vanishing_variance.harness.numbers import estimate
from vanishing_variance.results.accuracy import by_seed, pair, rows
from vanishing_variance.results.baseline import BEHIND
from vanishing_variance.results.scale import PAPER_LONGEST
from vanishing_variance.statistics.intervals import interval
from vanishing_variance.statistics.random_effects import random_effects

TASK, RANGE = "dictionary", "short"
# That every comparable protocol has.
SEEDS = 8
# By the words of a rule, the field that is smallest in the comparable protocol that it chooses.
RULES = {
    "`none` nearest to the paper's at 2^4": "from_paper_at_16",
    "nearest at 2^5 to 2^14": "from_paper_beyond",
    "nearest at 2^4 to 2^14, plain and adaptive θ": "from_paper",
    "lowest training loss of `none`": "loss",
    "highest accuracy of `none` at 2^5 to 2^14": "error",
}
HEAD = ("rule", "protocol", "gain", "n")
MEAN_HEAD = ("protocols", "n", "clearly positive", "clearly negative", "mean gain", "τ", "one more")


@dataclass(frozen=True)
class Protocol:
    """The gain of `ln` over `none` beyond training in one protocol (pp), and what rules look at.

    `gain` is the mean with its 95% t interval over n seeds, `variance` its squared standard error. `from_…` are mean
    absolute differences from the paper (pp): of `none` and `ln`, of `none`, and of `none` with a plain softmax at 2^4
    and beyond. `error` (%, beyond training) and training `loss` (nats) are of `none`.
    """

    name: str
    n: int
    gain: tuple[float, float, float]
    variance: float
    comparable: bool
    from_table2: float
    from_paper: float
    from_paper_at_16: float
    from_paper_beyond: float
    error: float
    loss: float


def protocols(results: pd.DataFrame, paper: pd.DataFrame) -> list[Protocol]:
    """Return the protocols on the dictionary, in the order of the results; `paper` has the paper's numbers."""
    results = rows(results, task=TASK).assign(range=RANGE)
    table2 = rows(paper, task=TASK, range_=RANGE, quantity="accuracy_pct")
    return [_protocol(str(name), own, table2) for name, own in results.groupby("protocol", sort=False)]


def _protocol(name: str, results: pd.DataFrame, table2: pd.DataFrame) -> Protocol:
    def above_paper(norm: str, rule: str) -> "pd.Series[float]":
        papers = rows(table2, variant=norm, rule=rule).set_index("length")["value"]
        return by_seed(results, TASK, RANGE, norm, rule).mean() - papers

    longest = PAPER_LONGEST[RANGE]
    plain = above_paper("none", "plain")
    both = pd.concat([plain, above_paper("none", "adaptive")])
    all_four = pd.concat([both, above_paper("ln", "plain"), above_paper("ln", "adaptive")])
    ours, theirs = pair(results, TASK, RANGE, "ln", "none", "plain", longest)
    gains = (ours - theirs).mean(axis=1).to_numpy()
    return Protocol(
        name=name,
        n=len(gains),
        gain=interval(gains),
        variance=float(gains.var(ddof=1)) / len(gains),
        comparable=plain[longest] >= -BEHIND,
        from_table2=all_four.abs().mean(),
        from_paper=both.abs().mean(),
        from_paper_at_16=abs(plain[longest]),
        from_paper_beyond=plain.drop(longest).abs().mean(),
        error=100 - theirs.to_numpy().mean(),
        loss=rows(results, norm="none")["loss"].mean(),
    )


def chosen(found: Sequence[Protocol]) -> dict[str, Protocol]:
    """Return the protocol that each rule chooses, by the words of the rule; the last rule is the one that was used."""
    comparable = [one for one in found if one.comparable]
    choices = {"Section 1's network": found[0]}  # base, the first that was tried
    for words, field in RULES.items():
        choices[words] = min(comparable, key=attrgetter(field))
    choices["nearest, plain and adaptive θ, comparable or not"] = min(found, key=attrgetter("from_paper"))
    gaining = [one for one in comparable if one.gain[1] > 0]
    choices["**used, looks at `ln`**: gain above 0, nearest to Table 2"] = min(gaining, key=attrgetter("from_table2"))
    return choices


def markdown(results: pd.DataFrame, paper: pd.DataFrame) -> str:
    """Return the choices of all rules, and the mean gains over protocols."""
    every = protocols(results, paper)
    near = [one for one in every if one.comparable]
    choices = chosen(every)
    *_, by_first_seeds = chosen(protocols(results[results["seed"] < SEEDS], paper)).values()
    choices[f"the same, by the first {SEEDS} seeds of each"] = by_first_seeds
    lines = [[words, one.name, estimate("+.1f", *one.gain), str(one.n)] for words, one in choices.items()]
    means = [_mean("comparable", near), _mean("all", every)]
    return f"""# The choice of a network

Which [protocol](protocols.md) a rule would have chosen for the dictionary, and its gain: LN − `none` in points, plain
softmax, mean over 2^5 to 2^14, with the 95% interval. Rules choose among the {len(near)} of {len(every)} with a
[comparable](../../docs/decisions.md#how-claims-are-judged) baseline. By `python -m stages.choice`.

{table(HEAD, lines, texts=2)}

Choice and gain have the same seeds, and all rules but the used one were written after the results.

{table(MEAN_HEAD, means, texts=1)}

The mean gain over protocols (random effects, Paule and Mandel); *clearly*: by a protocol's 95% interval, not corrected;
τ: the standard deviation of the true gains; *one more*: the 95% prediction interval of one more protocol like these.
They are no random sample, and share seeds and test sequences, some also the models of `none`.
"""


def _mean(words: str, found: Sequence[Protocol]) -> list[str]:
    """Return what the gains are over protocols: clear signs, random-effects mean, tau and the prediction interval."""
    positive = sum(one.gain[1] > 0 for one in found)
    negative = sum(one.gain[2] < 0 for one in found)
    gains = np.array([one.gain[0] for one in found])
    over = random_effects(gains, np.array([one.variance for one in found]))
    mean = estimate("+.1f", over.mean, over.low, over.high)
    another = f"{over.another_low:+.1f} to {over.another_high:+.1f}"
    return [words, str(len(found)), str(positive), str(negative), mean, f"{over.tau:.1f}", another]
