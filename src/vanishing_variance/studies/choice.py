"""The choice of a network on the dictionary: what rules that do not look at `ln` would have chosen, and its gain."""

from typing import Any

import pandas as pd

from vanishing_variance.harness.markdown import table
from vanishing_variance.harness.numbers import estimate
from vanishing_variance.results.accuracy import by_seed, pair, rows
from vanishing_variance.results.scale import BEHIND, PAPER_LONGEST
from vanishing_variance.statistics.intervals import interval
from vanishing_variance.statistics.random_effects import random_effects

TASK, RANGE = "dictionary", "short"
# That every comparable protocol has.
SEEDS = 8
# By the words of a rule, the column that is smallest in the comparable protocol that it chooses.
RULES = {
    "`none` nearest to the paper's at 2^4": "from_paper_at_16",
    "nearest at 2^5 to 2^14": "from_paper_beyond",
    "nearest at 2^4 to 2^14, plain and adaptive θ": "from_paper",
    "lowest training loss of `none`": "loss",
    "highest accuracy of `none` at 2^5 to 2^14": "error",
}
GAIN = ["gain", "low", "high"]
HEAD = ("rule", "protocol", "gain", "n")
MEAN_HEAD = ("protocols", "n", "clearly positive", "clearly negative", "mean gain", "τ", "one more")


def protocols(results: pd.DataFrame, paper: pd.DataFrame) -> pd.DataFrame:
    """Return a row a protocol on the dictionary, by its name, in the order of the results.

    `gain`: that of `ln` over `none` beyond training (pp), the mean with its 95% t interval (`low`, `high`) over n
    seeds, and `variance`, its squared standard error. What rules look at: `from_…`, mean absolute differences from the
    paper's numbers, which `paper` has (pp), of `none` and `ln`, of `none`, and of `none` with a plain softmax at 2^4
    and beyond; `error` (%, beyond training) and training `loss` (nats) of `none`.
    """
    results = rows(results, task=TASK).assign(range=RANGE)
    table2 = rows(paper, task=TASK, range_=RANGE, quantity="accuracy_pct")
    by_name = {name: _protocol(own, table2) for name, own in results.groupby("protocol", sort=False)}
    return pd.DataFrame.from_dict(by_name, "index")


def _protocol(results: pd.DataFrame, table2: pd.DataFrame) -> dict[str, Any]:
    def above_paper(norm: str, rule: str) -> "pd.Series[float]":
        papers = rows(table2, variant=norm, rule=rule).set_index("length")["value"]
        return by_seed(results, TASK, RANGE, norm, rule).mean() - papers

    longest = PAPER_LONGEST[RANGE]
    plain = above_paper("none", "plain")
    both = pd.concat([plain, above_paper("none", "adaptive")])
    all_four = pd.concat([both, above_paper("ln", "plain"), above_paper("ln", "adaptive")])
    ours, theirs = pair(results, TASK, RANGE, "ln", "none", "plain", longest)
    gains = (ours - theirs).mean(axis=1).to_numpy()
    return {
        "n": len(gains),
        **dict(zip(GAIN, interval(gains), strict=True)),
        "variance": float(gains.var(ddof=1)) / len(gains),
        "comparable": plain[longest] >= -BEHIND,
        "from_table2": all_four.abs().mean(),
        "from_paper": both.abs().mean(),
        "from_paper_at_16": abs(plain[longest]),
        "from_paper_beyond": plain.drop(longest).abs().mean(),
        "error": 100 - theirs.to_numpy().mean(),
        "loss": rows(results, norm="none")["loss"].mean(),
    }


def chosen(found: pd.DataFrame) -> dict[str, Any]:
    """Return the name of the protocol that each rule chooses, by the words of the rule; the last is the used one."""
    comparable = found[found["comparable"]]
    choices = {"Section 1's network": found.index[0]}  # base, the first that was tried
    for words, column in RULES.items():
        choices[words] = comparable[column].idxmin()
    choices["nearest, plain and adaptive θ, comparable or not"] = found["from_paper"].idxmin()
    gaining = comparable[comparable["low"] > 0]
    choices["**used, looks at `ln`**: gain above 0, nearest to Table 2"] = gaining["from_table2"].idxmin()
    return choices


def markdown(results: pd.DataFrame, paper: pd.DataFrame) -> str:
    """Return the choices of all rules, and the mean gains over protocols."""
    every = protocols(results, paper)
    near = every[every["comparable"]]
    lines = [_line(words, every.loc[name]) for words, name in chosen(every).items()]
    by_first_seeds = protocols(results[results["seed"] < SEEDS], paper)
    *_, used = chosen(by_first_seeds).values()
    lines.append(_line(f"the same, by the first {SEEDS} seeds of each", by_first_seeds.loc[used]))
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


def _line(words: str, protocol: "pd.Series[Any]") -> list[str]:
    return [words, str(protocol.name), estimate("+.1f", *protocol[GAIN]), str(protocol["n"])]


def _mean(words: str, found: pd.DataFrame) -> list[str]:
    """Return what the gains are over protocols: clear signs, random-effects mean, tau and the prediction interval."""
    positive = (found["low"] > 0).sum()
    negative = (found["high"] < 0).sum()
    over = random_effects(found["gain"].to_numpy(), found["variance"].to_numpy())
    mean = estimate("+.1f", over.mean, over.low, over.high)
    another = f"{over.another_low:+.1f} to {over.another_high:+.1f}"
    return [words, str(len(found)), str(positive), str(negative), mean, f"{over.tau:.1f}", another]
