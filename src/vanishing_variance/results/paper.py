"""The paper's numbers, results/paper.csv: gains, how near ours are; and the scale of its training."""

from collections.abc import Collection, Mapping
from typing import Any

import pandas as pd

from vanishing_variance.engine.run import PAPER
from vanishing_variance.harness.numbers import estimate, table
from vanishing_variance.harness.sections import get_param
from vanishing_variance.harness.yaml import flattened
from vanishing_variance.results.arms import Pair
from vanishing_variance.results.columns import rows
from vanishing_variance.results.runs import line_of, range_of

# The paper's gradient steps by task (B.1).
PAPER_STEPS = {"argmax": 100_000, "dictionary": 10_000}
PAPER_SEEDS = 100
# The paper's longest training length by range.
PAPER_LONGEST = {"short": 16, "long": 256}
# What else it was trained with, or what the paper leaves open and the reproduction has (docs/protocol.md), by key of
# params.yaml.
PAPERS_SETUP: Mapping[str, Any] = {
    "network": PAPER,
    "attention": "softmax",
    "tasks.argmax.data.classes": 10,
    "tasks.dictionary.data.key_classes": 16384,
    "tasks.dictionary.data.value_classes": 64,
    "tasks.dictionary.training.embedding_width": 64,
    "tasks.dictionary.training.embedding_std": 0.125,
    "ranges.short.shortest": 5,
    "ranges.short.longest": 16,
    "ranges.long.shortest": 5,
    "ranges.long.longest": 256,
    "ranges.long.growth.shape": "geometric",
    "ranges.long.growth.start": 16,
    "ranges.long.growth.until": 1.0,
    "model.width": 128,
    "model.heads": 1,
    "model.epsilon": 1e-5,
    "model.attention_biases": True,
    "model.scaled_logits": True,
    "model.output_projection": True,
    "model.projection": "mlp",
    "training.batch_size": 128,
    "training.learning_rate": 1e-3,
    "training.weight_decay": 0.0,
    "training.decay": "none",
}
# Percentage points that a baseline may be below the paper's, and still count as trained like the paper's.
BEHIND = 0.5
# A test is significant below this, the paper's and ours.
ALPHA = 0.01
# Percentage points: the paper's accuracies have one decimal, so a difference is off by at most two halves of a tenth.
ROUNDED = 0.1
HEAD = (
    *("", "numbers", "mean difference (pp)", "mean absolute difference (pp)"),
    *("significant there (p < 0.01)", "so here, same sign", "so here, opposite sign"),
)


def markdown(tables: Mapping[int, pd.DataFrame]) -> str:
    """Return by table how near ours are: over its accuracies and gains the mean difference, ours minus the paper's.

    And of the paper's tests with p < 0.01, how many have p < 0.01 here, with the same sign or the opposite one.
    `tables`: of `results.tables.numbers`.
    """
    lines = []
    for number, found in tables.items():
        names = [name for name in found if f"paper_{name}" in found and name != "p"]
        differences = pd.concat([found[name] - found[f"paper_{name}"] for name in names]).dropna()
        mean = estimate("+.1f", differences.mean())
        mean_absolute = estimate(".1f", differences.abs().mean())
        significant = found[found["paper_p"] < ALPHA]
        gains = significant["difference"].where(significant["p"] < ALPHA)
        counts = len(significant), int((gains > 0).sum()), int((gains < 0).sum())
        lines.append([f"Table {number}", str(len(differences)), mean, mean_absolute, *map(str, counts)])
    return f"# Ours against the paper's\n\n{table(HEAD, lines)}\n"


def papers_gains(paper: pd.DataFrame, pair: Pair, lengths: "pd.Index[Any]") -> pd.Series:
    """Return the paper's differences of a pair in percentage points, by length.

    Those that the conversion of its tables lost are absent.
    """
    ours, theirs = (_over_none(paper, pair, line) for line in (pair.line, pair.baseline))
    return (ours - theirs).reindex(lengths).dropna()


def papers_numbers(
    paper: pd.DataFrame, pair: Pair, line: str, statistic: str = "accuracy", baseline: str = ""
) -> pd.Series:
    """Return the paper's numbers of a line, or of it and a baseline, of a pair's task and rule, by length."""
    found = rows(paper, task=pair.task, rule=pair.rule, line=line, statistic=statistic)
    if baseline:
        found = rows(found, baseline=baseline)
    return found.set_index("length")["value"].dropna()


def _over_none(paper: pd.DataFrame, pair: Pair, line: str) -> pd.Series:
    """Return the paper's gain of a line over none by length: Table 3 has that of std, other tables accuracies."""
    none = line_of("none", range_of(line))
    gain = papers_numbers(paper, pair, line, "difference", none)
    return gain if len(gain) else papers_numbers(paper, pair, line) - papers_numbers(paper, pair, none)


def trained_otherwise(params: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of PAPERS_SETUP, and options, at which params.yaml has another value, and that value."""
    sections = {key.split(".")[0] for key in PAPERS_SETUP} & params.keys()
    ours = flattened({section: get_param(params, section, Any) for section in sections})
    otherwise = {}
    is_papers = params.get("network", PAPER) == PAPER
    for key, papers in PAPERS_SETUP.items():
        if key.startswith("model.") and key != "model.epsilon" and not is_papers:
            continue  # which other networks do not read
        for found in (key, key.rpartition(".")[0]):  # or the key of a section that is null
            if ours.get(found, papers) != papers:
                otherwise[found] = ours[found]
    options = get_param(params, "network_options", dict[str, Any]) if "network_options" in params else {}
    otherwise |= {f"network_options.{key}": value for key, value in options.items()}
    grown = "ranges.short.growth.shape"  # which the paper's has not
    return otherwise | ({grown: ours[grown]} if grown in ours else {})


def otherwise_words(otherwise: Mapping[str, Any], tasks: Collection[str], range_: str) -> list[str]:
    """Return in words what of `trained_otherwise` is of some tasks on a range: `training.decay cosine`."""
    words = []
    for key, value in otherwise.items():
        section, *rest = key.split(".")
        if section not in ("tasks", "ranges") or rest[0] in {*tasks, range_}:
            words.append(f"{key} {'null' if value is None else value}")
    return words


def of_paper(task: str, made: int, range_: str, otherwise: Mapping[str, Any]) -> str:
    """Return a number of gradient steps in words, beside the paper's where it is no larger; and `otherwise_words`."""
    papers = PAPER_STEPS[task]
    words = f"{made:,} of the paper's {papers:,} gradient steps"
    if made > papers:
        words = f"{made:,} gradient steps"
    if made == papers:
        words = f"the paper's {papers:,} gradient steps"
    return ", ".join([words, *otherwise_words(otherwise, [task], range_)])
