"""The paper's scale, and whether models are trained like the paper's."""

from vanishing_variance.engine.run import PAPER

# The paper's gradient steps by task (B.1).
PAPER_STEPS = {"argmax": 100_000, "dictionary": 10_000}
PAPER_SEEDS = 100
# The paper's longest training length by range.
PAPER_LONGEST = {"short": 16, "long": 256}
# Percentage points that a baseline may be below the paper's, and still count as trained like the paper's.
BEHIND = 0.5


def of_paper(task: str, made: int, attention: str, network: str) -> str:
    """Return a number of gradient steps in words, beside the paper's where it is no larger.

    Where attention is no softmax, or the network another than the paper's, the words say so.
    """
    papers = PAPER_STEPS[task]
    words = f"{made:,} of the paper's {papers:,} gradient steps"
    if made > papers:
        words = f"{made:,} gradient steps"
    if made == papers:
        words = f"the paper's {papers:,} gradient steps"
    if network != PAPER:
        words += f", network {network}"
    if attention != "softmax":
        words += f", attention {attention}"
    return words
