"""Does LN's gain go with the target's attention? `python studies/best/target.py`, of the results of studies in git.

Every pair of `ln` and `none` in the paper's network or a variant of it, with a softmax, that a study trained on up to
16 items and tested on up to 2^14, with attention to the target measured: whatever the learning rate, schedule and
steps. Without `fresh`, whose seeds are among those of `paper-scale`. A pair of which an arm has under 99% at 2^4 did
not train.

Writes target.md, a row a pair: by how much LN changes the log-odds of the target's weight at 2^14, and the gain beyond
training in points, both of the last weights and paired by seed, with 95% intervals over n seeds; and their correlation
over settings, the means of pairs that differ in seeds alone. And target.png, of all pairs that trained. Written after
the results; it describes: of training with LN, attention is an effect, too.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from scipy.special import logit

from vanishing_variance.engine.ranges import training_steps
from vanishing_variance.figures import style
from vanishing_variance.figures.drawing import Drawing, write_figure
from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.markdown import table
from vanishing_variance.harness.numbers import estimate
from vanishing_variance.harness.script import run_script
from vanishing_variance.harness.sections import PATH
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.results.accuracy import rows
from vanishing_variance.results.compare.gains import columns, texts
from vanishing_variance.results.compare.pairs import of_both
from vanishing_variance.results.runs import TASKS
from vanishing_variance.statistics.paired import difference
from vanishing_variance.studies.line import STUDIES
from vanishing_variance.studies.parameters import unchecked_params
from vanishing_variance.studies.reading import by_rule, read_all
from vanishing_variance.studies.steps import LAST, gain_beyond

HERE = Path(__file__).parent
SHORTEST, LONGEST_TRAINED, LONGEST = 2**4, 16, 2**14
TRAINED = 0.99
OF_RATE = ("learning_rate", "decay", "batch_size", "weight_decay")
# Weights are written with six digits.
SMALLEST = 5e-7
SEEN_ELSEWHERE = "fresh"
NOTE = (
    "Of the last weights, paired by seed, with 95% intervals over n seeds; log-odds at 2^14. *r*: over settings, the "
    "means of pairs that differ in seeds alone. \\*: an arm has under 99% at 2^4, so it did not train: not in r. The "
    "arms of `ln-falls` have their own best rates. Added after the results of all but argmax's constant rates, the "
    "dictionary's falling ones in best-long, and best-argmax-long; it describes."
)
LOOKS = {"constant rate": style.SERIES[0], "falling rate": style.SERIES[2]}


def main() -> None:
    """Write and print the tables, and draw them."""
    found = read_pairs()
    text = tables(found)
    write_text(HERE / "target.md", text)
    write_figure(HERE / "target", draw(found[found["trained"]]))
    print(text)


def read_pairs() -> pd.DataFrame:
    """Return the pairs of all studies in git."""
    params = read_yaml(PATH)
    names = sorted({path.parent.name for path in STUDIES.glob("*/board.csv")} - {SEEN_ELSEWHERE})
    return pd.DataFrame([row for name in names for row in of_study(name, params)]).sort_values("task", kind="stable")


def of_study(name: str, params: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a row a task and pair: task, study, line, baseline, schedule, n, attention and gain with intervals.

    `trained`: whether both arms have TRAINED; `setting`: what the pair was trained by, but for its seeds.
    """
    study, results = read_all(name, params)
    tested = rows(by_rule(results), rule=LAST)
    for line, baseline in study.pairs:
        arms = [unchecked_params(params, study, part) for part in (line, baseline)]
        chosen = (arms[0]["norm"], arms[1]["norm"], arms[0]["network"], arms[0]["attention"])
        if chosen != ("ln", "none", "paper", "softmax") or study.range_of(line) != "short":
            continue
        for task in TASKS:
            of_task = rows(tested, task=task)
            results_of = [rows(of_task, line=part) for part in (line, baseline)]
            weights = [rows(arm, length=LONGEST).set_index("seed")["target"].dropna() for arm in results_of]
            if not all(map(len, weights)):
                continue
            ours, theirs = of_both(*(logit(weight.clip(SMALLEST, 1 - SMALLEST)) for weight in weights))
            attention = difference(ours.to_numpy(), theirs.to_numpy())
            gain = gain_beyond(of_task, line, baseline, LAST, LONGEST_TRAINED)
            about = {"task": task, "study": name, "line": line, "baseline": baseline, "n": gain.n}
            about["schedule"] = "constant rate" if arms[0]["training"]["decay"] == "none" else "falling rate"
            about["trained"] = min(rows(arm, length=SHORTEST)["accuracy"].mean() for arm in results_of) >= TRAINED
            steps = [training_steps(arm, task, "short") for arm in arms]
            about["setting"] = str([(arm["model"], [arm["training"][key] for key in OF_RATE]) for arm in arms] + steps)
            for what, found in (("attention", attention), ("gain", gain)):
                about |= columns(what, (found.mean, found.low, found.high))
            yield about


def tables(found: pd.DataFrame) -> str:
    """Return the correlation of each task and the pairs as Markdown."""
    summary = []
    for task, pairs in found[found["trained"]].groupby("task"):
        settings, r = correlation(pairs)
        summary.append([str(task), str(len(pairs)), str(settings), estimate(".2f", *r)])
    marked = found.assign(line=found["line"] + np.where(found["trained"], "", "\\*"))
    about = [marked[name].astype(str) for name in ("task", "study", "line", "baseline", "schedule", "n")]
    numbers = [texts(found, "attention", "+.2f"), texts(found, "gain", "+.1f")]
    heads = ["task", "study", "line", "baseline", "schedule", "n", "log-odds of the target's weight", "gain (pp)"]
    parts = ["# LN's gain beside what it does to the target's attention"]
    parts += [table(["task", "pairs", "settings", "r"], summary)]
    parts += [table(heads, list(zip(*about, *numbers, strict=True)), texts=5), NOTE]
    return "\n\n".join(parts) + "\n"


def correlation(pairs: pd.DataFrame) -> tuple[int, tuple[float, float, float]]:
    """Return the number of settings, and Pearson's r of their attention and gain with its 95% interval."""
    means = pairs.groupby("setting")[["attention", "gain"]].mean()
    r = stats.pearsonr(means["attention"], means["gain"])
    interval = r.confidence_interval()
    return len(means), (float(r.statistic), float(interval.low), float(interval.high))


def draw(found: pd.DataFrame) -> Drawing:
    """Draw a panel a task, a mark a pair."""
    figure = style.figure(2.8)
    panels = figure.subplots(1, found["task"].nunique(), sharey=True)
    correlations = []
    for axes, (task, of_task) in zip(panels, found.groupby("task", sort=False), strict=True):
        axes.axhline(0, color="#000000", lw=0.9, zorder=0)
        axes.axvline(0, color="#000000", lw=0.9, zorder=0)
        for schedule, look in LOOKS.items():
            own = rows(of_task, schedule=schedule)
            spans = [
                [own[what] - own[f"{what}_low"], own[f"{what}_high"] - own[what]] for what in ("attention", "gain")
            ]
            marks = look | {"linestyle": "none"}
            axes.errorbar(own["attention"], own["gain"], xerr=spans[0], yerr=spans[1], **marks, lw=0.9, label=schedule)
        axes.set(title=task, xlabel="change of the log-odds of the\ntarget's weight at $2^{14}$")
        settings, (r, low, high) = correlation(of_task)
        correlations.append(f"{task}: {len(of_task)} pairs in {settings} settings, r = {r:.2f} [{low:.2f}, {high:.2f}]")
    panels[0].set_ylabel("gain of ln beyond\ntraining (points)")
    style.legend_above(figure, columns=2)
    caption = (
        f"A mark is LN beside none in one training, last weights, {found['n'].min()} to {found['n'].max()} seeds, with "
        f"95% t intervals over seeds, paired. {'; '.join(correlations)}. Drawn after the results. It describes: "
        "attention is an effect of training with LN, too."
    )
    return Drawing(figure, "Gain of ln against what ln does to attention to the target", caption)


if __name__ == "__main__":
    run_script(main)
