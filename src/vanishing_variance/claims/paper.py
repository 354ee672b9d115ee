"""Every claim of the paper that is judged, in its order (claims.csv), and the rule that decides it.

The rules are written here and in the modules that this one imports; docs/decisions.md says when they were set. Claims
about what training leads to, accuracy and the inside of trained models, are judged for each task, by models that are
trained like the paper's alone; those of `theory` at any scale. Ours, not the paper's: `cause-moments`,
`cause-attention` and `cause-read-out`. Not judged: that it helps to let the training lengths grow
(B.2; `-S ranges.long.growth=null` asks), that vanishing variance is what degrades LLMs (Figure 1's caption), and that
dispersion is inevitable (Figure 4's, a theorem of Veličković et al.).
"""

import csv
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path

from vanishing_variance.claims import alike, causes, outputs, theory
from vanishing_variance.claims.ahead import ahead
from vanishing_variance.claims.evidence import Evidence
from vanishing_variance.claims.judgement import Claim, Judgement, Rule
from vanishing_variance.claims.outputs import changes, log_ratio, smaller
from vanishing_variance.results.compare.pairs import Pair
from vanishing_variance.results.runs import TASKS

# By key without the task: a rule in words, and its function of a task.
OfEachTask = dict[str, tuple[str, Callable[[str, Evidence], Judgement]]]

# The fields of `Claim` but its rule; yes or nothing where they are true or false.
WORDS = Path(__file__).with_name("claims.csv")

INSIDE: OfEachTask = {
    "features": (
        "minus the log2 ratio of the mean feature variance of O (none) to that at the training lengths, above 0.",
        partial(changes, "none", lambda models: -log_ratio("feature_variance_before")(models), "log2 ratio"),
    ),
    "variance-decays": (
        "minus the log2 ratio of the global variance of O (none) to that at the training lengths, above 0.",
        partial(changes, "none", lambda models: -log_ratio("variance_before")(models), "log2 ratio"),
    ),
    "mean-drifts": (
        "the squared drift of the global mean of O (none) from that at the training lengths, in hundredths of a "
        "standard deviation of training, squared, less its own sampling error: above 0, however small. Its root mean "
        "square is the evidence.",
        outputs.drifts,
    ),
    "variance-kept": (
        "the absolute log2 ratio of the global variance of O, before the normaliser, to that at the training lengths, "
        "none less ln, above 0.",
        partial(smaller, lambda models: log_ratio("variance_before")(models).abs(), "absolute log2 ratio"),
    ),
    "variance-kept-after": (
        "the same after the normaliser.",
        partial(smaller, lambda models: log_ratio("variance_after")(models).abs(), "absolute log2 ratio"),
    ),
    "mean-kept": (
        "the squared drift of the global mean after the normaliser, as of mean-drifts, none less ln, above 0.",
        partial(smaller, outputs.squared_drift, outputs.HUNDREDTHS, shown=outputs.distance),
    ),
    "shift": (
        "the Wasserstein shift of O after the normaliser, in standard deviations of training, none less ln, above 0.",
        partial(smaller, lambda models: models["shift_after"], "sd"),
    ),
    "shift-left": (
        "the Wasserstein shift with ln, after the normaliser, less that of as large a sample of the training lengths, "
        "above 0.",
        partial(changes, "ln", lambda models: models["shift_after"] - models["trained_shift_after"], "sd"),
    ),
    "features-ln": (
        "minus the log2 ratio of the mean feature variance of O (ln, after the normaliser) to that at the training "
        "lengths, above 0.",
        partial(changes, "ln", lambda models: -log_ratio("feature_variance_after")(models), "log2 ratio"),
    ),
    "dispersion": (
        "the attention outside of the 16 largest weights, which Figure 4 shows, none less ln, above 0.",
        partial(smaller, lambda models: 100 * (1 - models["largest16"]), "% of the weight"),
    ),
}
CAUSES: OfEachTask = {
    "cause-moments": (causes.MOMENTS, causes.moments),
    "cause-attention": (causes.TARGET_WEIGHT, causes.attention),
    "cause-read-out": (causes.READ_OUT, causes.read_out),
    "attribution": (causes.ATTRIBUTION, causes.improves),
}
PAIRS = {
    **{task: Pair(task, "short", "ln", "none") for task in TASKS},
    **{f"{task}-adaptive": Pair(task, "short", "ln", "none", "adaptive") for task in TASKS},
    **{f"{task}-long": Pair(task, "long", "ln", "none") for task in TASKS},
    "std": Pair("argmax", "short", "std", "none"),
    "ln-std": Pair("argmax", "short", "ln", "std"),
    "std-dictionary": Pair("dictionary", "short", "std", "none"),
}
# Judged at any scale.
THEORY = {
    "vanishing": Rule(theory.VANISHES, theory.vanishes, TASKS, inside=True),
    "pretrained": Rule(theory.FALLS, theory.falls),
    "square-root": Rule(theory.HALF, theory.half),
    "capacity": Rule(theory.CAPACITY, theory.argued),
    **{f"convergence-{norm}": theory.converges("dictionary", norm) for norm in ("none", "ln")},
}


def _of_each(rules: OfEachTask, recorded: bool = True) -> dict[str, Rule]:
    of_each = {}
    for key, (words, judge) in rules.items():
        for task in TASKS:
            of_each[f"{key}-{task}"] = Rule(words, partial(judge, task), (task,), inside=True, recorded=recorded)
    return of_each


RULES = {
    **{key: replace(rule, of_training=False, recorded=False) for key, rule in THEORY.items()},
    **_of_each({key: (f"{outputs.SCOPE}{words}{outputs.SIGN}", judge) for key, (words, judge) in INSIDE.items()}),
    **{key: ahead(pair) for key, pair in PAIRS.items()},
    **{f"{task}-orthogonal": Rule(alike.ORTHOGONAL, partial(alike.orthogonal, task), (task,)) for task in TASKS},
    **_of_each(CAUSES, recorded=False),
    "ln-std-alike": Rule(alike.NEARER, alike.nearer, TASKS),
}


def _read_claims() -> Iterator[Claim]:
    for row in csv.DictReader(WORDS.read_text(encoding="utf-8").splitlines()):
        key, as_read, after_results = row["key"], bool(row["as_read"]), bool(row["after_results"])
        yield Claim(key, row["where"], row["says"], as_read, after_results, RULES[key])


CLAIMS = tuple(_read_claims())
