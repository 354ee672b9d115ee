"""The rate of each arm of `best`: `python studies/best-rates/choose.py`, once the studies STUDIES have run.

By the mean over seeds of the log loss on held-out sequences of the training lengths (studies/best/plan.md). Writes
rates.md beside this file: a row a task, schedule, rule and arm, a column a rate, the lowest marked.
"""

from pathlib import Path

import numpy as np
import pandas as pd

from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.markdown import table
from vanishing_variance.harness.numbers import estimate
from vanishing_variance.harness.script import run_script
from vanishing_variance.harness.sections import PATH
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.studies.reading import by_rule, read_all

HERE = Path(__file__).parent
STUDIES = ("best-rates", "best-majority", "best-argmax")
RATES = ("25", "50", "100", "200", "400")  # in units of 0.00001, as in the names of lines
KEYS = ["task", "schedule", "rule", "arm"]


def main() -> None:
    """Read the studies' losses, write and print the table."""
    params = read_yaml(PATH)
    tested = pd.concat([by_rule(read_all(name, params)[1]) for name in STUDIES])
    text = rates_table(mean_log_losses(tested))
    write_text(HERE / "rates.md", text)
    print(text)


def mean_log_losses(tested: pd.DataFrame) -> pd.DataFrame:
    """Return the mean over seeds of the log loss: a row a task, schedule, rule and arm, a column a rate.

    A rate at which a training diverged has none, and is out.
    """
    models = tested.join(tested["line"].str.extract(r"(?P<arm>\w+)-(?P<schedule>\w+)-(?P<rate>\d+)"))
    log_loss = np.log(models["loss"].astype(float))
    means = models.assign(log_loss=log_loss).pivot_table("log_loss", KEYS, "rate")
    return means.reindex(columns=list(RATES))


def rates_table(means: pd.DataFrame) -> str:
    """Return the table as Markdown, the lowest of each row in bold."""
    lines = []
    for keys, row in means.iterrows():
        cells = [estimate(".3f", value) for value in row]
        best = int(row.argmin())
        cells[best] = f"**{cells[best]}**"
        lines.append([*keys, *cells])
    heads = [*KEYS, *(f"{int(rate) / 1e5:g}" for rate in RATES)]
    return "# Mean log loss (nats) by learning rate\n\n" + table(heads, lines, texts=len(KEYS)) + "\n"


if __name__ == "__main__":
    run_script(main)
