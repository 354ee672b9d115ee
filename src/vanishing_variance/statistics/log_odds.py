"""Log-odds of accuracies: equal steps of them are equally hard, near 100% as near chance."""

import numpy as np
from jaxtyping import Float


def log_odds(accuracy: Float[np.ndarray, "*any"], sequences: int) -> Float[np.ndarray, "*any"]:
    """Return the empirical log-odds of accuracies, fractions of `sequences` that are correct.

    log((c + 1/2) / (w + 1/2)), c correct and w wrong ones: finite where all are correct. Source: Haldane (1956), The
    estimation and significance of the logarithm of a ratio of frequencies; Anscombe (1956).
    """
    correct = accuracy * sequences
    return np.asarray(np.log((correct + 0.5) / (sequences - correct + 0.5)))
