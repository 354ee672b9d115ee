"""Variance of LN's gain between root seeds and between seeds: `python studies/roots/roots.py` writes roots.md.

A root seed decides every stream, so also the order of the training lengths, which all seeds and arms of a study share.
results.csv has the accuracy beyond training (percent) of seeds 0 to 7 with root seeds 1 to 8, written by
studies/roots/roots.py of commit 31fb6e09, which trained them. The analysis, by the analysis of variance of random
effects, was written before the models were trained, but for the bounds *at most*.
"""

from itertools import product
from pathlib import Path

import numpy as np
from jaxtyping import Float
from scipy import stats

from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.frames import read_csv
from vanishing_variance.harness.numbers import table
from vanishing_variance.harness.script import run_script
from vanishing_variance.results.columns import rows
from vanishing_variance.statistics.intervals import mean_estimate

HERE = Path(__file__).parent
TASKS, RULES = ("argmax", "dictionary"), ("last", "averaged")
OF_STUDY = 104  # seeds of `paper-scale`
NOTE = (
    "Points beyond training, 8 paired seeds a root, which decides the order of lengths and the test sequences. "
    "*Gain*: the mean over roots, with a 95% t interval over them, which holds both. *Roots*, *seeds*: standard "
    "deviations of the true gains between roots, 0 where the estimate of its square is negative, and of the seeds of "
    "one root. *At most*: the one-sided 95% bound of the first, added after the results. *p*: of the F test that "
    "roots do not differ. *One root*: the standard error of a mean over 104 seeds of one root, by the seeds alone, "
    "and if roots differ by *at most*."
)
HEADS = ("task", "rule", "roots", "gain (pp)", "roots (pp)", "at most", "seeds (pp)", "p", "one root", "one, at most")


def main() -> None:
    """Write the table."""
    for name, text in tables().items():
        write_text(HERE / name, text)


def tables() -> dict[str, str]:
    """Return roots.md, of results.csv."""
    models = read_csv(HERE / "results.csv")
    lines = []
    for task, rule in product(TASKS, RULES):
        arms = rows(models, task=task, rule=rule).pivot_table("beyond", "root", ["norm", "seed"])
        gains = arms["ln"] - arms["none"]
        lines.append([task, rule, *components(gains.to_numpy())])
    return {"roots.md": f"# The gain of ln by root seed\n\n{table(HEADS, lines, texts=2)}\n\n{NOTE}\n"}


def components(gains: Float[np.ndarray, "roots seeds"]) -> list[str]:
    """Return the cells of one task and rule: the mean gain, and the components of its variance."""
    roots, seeds = gains.shape
    means, test = gains.mean(1), stats.f_oneway(*gains)
    within = gains.var(axis=1, ddof=1).mean()
    between = within / seeds * max(test.statistic - 1, 0)
    lowest = stats.f.ppf(0.05, roots - 1, roots * (seeds - 1))
    at_most = within / seeds * max(test.statistic / lowest - 1, 0)
    deviations = [f"{variance**0.5:.2f}" for variance in (between, at_most, within)]
    errors = [f"{(within / OF_STUDY + more) ** 0.5:.2f}" for more in (0, at_most)]
    return [str(roots), mean_estimate(means, "+.1f"), *deviations, f"{test.pvalue:.2g}", *errors]


if __name__ == "__main__":
    run_script(main)
