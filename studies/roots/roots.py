"""How much of LN's gain is the order of lengths: `python studies/roots/roots.py dictionary 1 2 3 4 5 6 7 8`.

A root seed decides every stream, so also the order of the training lengths, which all seeds and arms of a study share.
Trains seeds 0 to 7, `none` and `ln`, by params.yaml with each root seed that is named and has no results yet, and
writes results/<task>-<root>.csv: norm, seed, rule, and the accuracy beyond training (percent). Then writes and prints
roots.md: for each task and rule the variance of the gain between roots and between the seeds of a root, by the analysis
of variance of random effects, and what they make of the error of a mean over 104 seeds of one root. Models are not
kept. Written before it ran, but for the bounds *at most*.
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from jaxtyping import Float
from scipy import stats

from vanishing_variance import evaluate, read_params, train
from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.frames import read_csv, write_csv
from vanishing_variance.harness.markdown import table
from vanishing_variance.harness.script import run_script
from vanishing_variance.statistics.intervals import mean_estimate

HERE = Path(__file__).parent
ARMS, SEEDS, RULES = ("none", "ln"), range(8), ("last", "averaged")
LONGEST_TRAINED, OF_STUDY = 16, 104  # seeds of `paper-scale`
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
    """Train what is missing, write and print the table."""
    task, *roots = sys.argv[1:]
    for root in roots:
        path = HERE / "results" / f"{task}-{root}.csv"
        if not path.exists():
            write_csv(path, pd.concat([tested(task, norm, int(root)) for norm in ARMS]))
    text = roots_table()
    write_text(HERE / "roots.md", text)
    print(text)


def tested(task: str, norm: str, root: int) -> pd.DataFrame:
    """Return the accuracy beyond training of one arm with one root seed: norm, seed, rule, beyond (percent)."""
    accuracy = evaluate(train(read_params({"seed": root}), task, norm, SEEDS))
    beyond = accuracy[(accuracy["length"] > LONGEST_TRAINED) & accuracy["rule"].isin(RULES)]
    means = (100 * beyond.groupby(["seed", "rule"])["accuracy"].mean()).round(6)
    return means.rename("beyond").reset_index().assign(norm=norm)[["norm", "seed", "rule", "beyond"]]


def gains(task: str, rule: str) -> Float[np.ndarray, "roots seeds"]:
    """Return the gain of each seed of each root that has results, in points."""
    by_root = []
    for path in sorted((HERE / "results").glob(f"{task}-*.csv")):
        frame = read_csv(path)
        arms = frame[frame["rule"] == rule].pivot_table("beyond", "seed", "norm")
        by_root.append((arms["ln"] - arms["none"]).to_numpy())
    return np.stack(by_root)


def roots_table() -> str:
    """Return the table as Markdown, a row a task and rule."""
    lines = []
    for task in sorted({path.stem.partition("-")[0] for path in (HERE / "results").glob("*.csv")}):
        for rule in RULES:
            by_root = gains(task, rule)
            roots, seeds = by_root.shape
            means, test = by_root.mean(1), stats.f_oneway(*by_root)
            within = by_root.var(axis=1, ddof=1).mean()
            between = within / seeds * max(test.statistic - 1, 0)
            lowest = stats.f.ppf(0.05, roots - 1, roots * (seeds - 1))
            at_most = within / seeds * max(test.statistic / lowest - 1, 0)
            cells = [mean_estimate(means, "+.1f")]
            cells += [f"{between**0.5:.2f}", f"{at_most**0.5:.2f}", f"{within**0.5:.2f}", f"{test.pvalue:.2g}"]
            cells += [f"{(within / OF_STUDY) ** 0.5:.2f}", f"{(within / OF_STUDY + at_most) ** 0.5:.2f}"]
            lines.append([task, rule, str(roots), *cells])
    return f"# The gain of ln by root seed\n\n{table(HEADS, lines, texts=2)}\n\n{NOTE}\n"


if __name__ == "__main__":
    run_script(main)
