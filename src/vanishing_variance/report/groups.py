"""Groups of the verdict board, and every claim in a few words."""

from collections.abc import Mapping
from typing import Any

from vanishing_variance.harness.runs import TASKS

HEADINGS = {
    "variance": "Variance of the attention outputs O, as sequences grow",
    "accuracy": "Accuracy beyond the training lengths",
    "mechanism": "Mechanism: what layer normalisation (ln) changes inside",
    "cause": "Cause of the accuracy that is lost",
    "other": "Other claims",
}
# By group, a claim's key without its task and the claim in a few words; a claim that is not here is `other`.
GROUPS = {
    "variance": {
        "vanishing": "The variance of O vanishes",
        "pretrained": "Its deviation falls in pretrained LLMs",
        "square-root": "There, as N^−0.5 for random tokens",
        "features": "Features of O concentrate",
        "variance-decays": "Global variance of O decays",
        "mean-drifts": "Global mean of O drifts",
    },
    "accuracy": {
        "": "ln is ahead of none",
        "adaptive": "ln is ahead, adaptive temperature",
        "orthogonal": "ln gains the same with adaptive temperature",
        "std": "std is ahead of none",
        "ln-std": "ln is ahead of std",
        "ln-std-alike": "ln and std more alike on dictionary",
        "long": "ln is ahead, trained on up to 256",
        "convergence-none": "none converges in 10,000 steps",
        "convergence-ln": "ln converges in 10,000 steps",
    },
    "mechanism": {
        "variance-kept": "ln preserves the global variance of O",
        "variance-kept-after": "ln preserves it after the normaliser",
        "mean-kept": "ln preserves the global mean",
        "shift": "ln reduces the distribution shift of O",
        "shift-left": "ln does not eliminate the shift",
        "features-ln": "Features still concentrate with ln",
        "dispersion": "ln mitigates dispersion",
        "capacity": "std constrains the capacity",
        "ln-std-functions": "ln and std represent the same functions",
    },
    "cause": {
        "cause-moments": "Shifted moments of O cost most of it",
        "cause-attention": "Less attention on the target costs most",
        "cause-read-out": "ln is ahead at equal attention",
        "attribution": "ln gains by reducing the shift",
    },
}


def in_few_words(key: str, claim: Mapping[str, Any]) -> tuple[str, str]:
    """Return the group of a claim and the claim in a few words, with its task where its models are of one task."""
    name = "-".join(part for part in key.split("-") if part not in TASKS)
    for group, words in GROUPS.items():
        if name in words:
            return group, ", ".join([words[name], *claim["steps"]][: 2 if len(claim["steps"]) == 1 else 1])
    return "other", str(claim["claim"])
