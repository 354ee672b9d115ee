"""What may explain Tables 4 and 5, trained on up to 256: `python -m benchmarks.long_range TASK [SETTING ...]`.

How the training lengths grow and how many steps there are, which B.2 does not say, and other networks. Each setting is
params.yaml but for what it changes, with the paper's numbers of steps and seeds 8 to 15, which the record lacks;
plain softmax. Writes metrics/long_range.csv and long_range.md; seeds that are there already are not trained again.
docs/protocol.md has the rules by which a growth and the steps are chosen.
"""

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import ROOT
from benchmarks.rows import add_rows, read_rows
from vanishing_variance import evaluate, read_params, train
from vanishing_variance.engine.batches import STEPS_PER_DRAW, lengths
from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.frames import read_csv
from vanishing_variance.harness.markdown import table
from vanishing_variance.harness.numbers import estimate, power
from vanishing_variance.harness.runs import METRICS, REFERENCE, TASKS
from vanishing_variance.results.scale import SCALES, paper_steps
from vanishing_variance.statistics.intervals import mean_estimate

FIRST_SEED, SEEDS, SEQUENCES, LONGEST = 8, 8, 1024, 256


def _growth(shape: str, until: float) -> dict[str, Any]:
    return {"shape": shape, "start": 16, "until": until}


GROWTHS: dict[str, dict[str, Any] | None] = {
    "geometric, over all steps": _growth("geometric", 1.0),
    "geometric, over half of them": _growth("geometric", 0.5),
    "linear, over all steps": _growth("linear", 1.0),
    "linear, over half of them": _growth("linear", 0.5),
    "no growth": None,
}
# Beside growth, tried after it had explained nothing. No W_O, no √D, wider embeddings: as Veličković et al. (2024) are
# said to have them.
VELICKOVIC = {
    **{"model.scaled_logits": False, "model.output_projection": False},
    **{"tasks.dictionary.training.embedding_width": 128, "tasks.dictionary.training.embedding_std": 0.0884},
}
SETTINGS: dict[str, dict[str, Any]] = {
    **{name: {"ranges.long.growth": growth} for name, growth in GROWTHS.items()},
    "Veličković et al.'s network": VELICKOVIC,
    "logits not scaled": {"model.scaled_logits": False},
    # 10,000 for each of 16, 32, 64, 128 and 256; as many as argmax
    "50,000 steps": {"tasks.dictionary.steps.long": 50_000},
    "100,000 steps": {"tasks.dictionary.steps.long": 100_000},
    "rate falls to 0": {"training.decay": "cosine"},
    "rate 3e-4": {"training.learning_rate": 3e-4},
    "50,000 steps, rate falls to 0": {"tasks.dictionary.steps.long": 50_000, "training.decay": "cosine"},
}
# The paper's, where a setting has no others; its scale here has more of the dictionary.
STEPS = {"tasks.dictionary.steps.long": paper_steps("dictionary")}
KEYS = ["task", "setting", "norm", "items", "seed", "length", "accuracy"]
INTRODUCTION = (
    "By `python -m benchmarks.long_range`. How the longest training length grows from 16 to 256: *linear* by as many "
    "items in every step, *geometric* by the same factor, over all of the steps or the first half; *no growth*: 256 "
    "from the first step on. In the other settings it grows as params.yaml says, geometrically over all steps; *50,000 "
    "steps*, *100,000 steps*: of the dictionary, instead of B.1's 10,000; *rate*: of 1e-3, constant, where "
    "nothing else is said. "
    "*Items*: of a training sequence, on average. *From the paper's*: mean absolute difference from the accuracies "
    "that survive in Tables 4 and 5 (pp). Plain softmax, 1,024 test sequences a length, 95% intervals over n seeds. "
    "The rules by which a growth and the steps are chosen, and what the others say: docs/protocol.md."
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("setting", nargs="*", help=f"one of: {'; '.join(SETTINGS)}")
    parser.add_argument("--norm", default="none", help="none; a file of norms/")
    parser.add_argument("--seeds", type=int, default=SEEDS, help=f"{SEEDS}; 4 to see which are far from the paper")
    chosen = parser.parse_intermixed_args()
    if not 1 <= chosen.seeds <= SEEDS:
        parser.error(f"seeds: {chosen.seeds} must be from 1 to {SEEDS}: those after them are the record's")
    if unknown := set(chosen.setting) - set(SETTINGS):
        parser.error(f"setting: {', '.join(sorted(unknown))}: choose from: {'; '.join(SETTINGS)}")
    path = ROOT / METRICS / "long_range.csv"
    for name in chosen.setting or SETTINGS:
        there = set(
            read_rows(path, KEYS).query("task == @chosen.task and setting == @name and norm == @chosen.norm")["seed"]
        )
        if not (missing := [seed for seed in range(FIRST_SEED, FIRST_SEED + chosen.seeds) if seed not in there]):
            continue
        print(f"{chosen.task}, {chosen.norm}: {name}", file=sys.stderr, flush=True)
        made = measured(chosen.task, chosen.norm, SETTINGS[name], missing).assign(setting=name)
        add_rows(path, made, KEYS)
    write_text(path.with_suffix(".md"), markdown(read_rows(path, KEYS)))


def measured(
    task: str,
    norm: str,
    changes: Mapping[str, Any],
    seeds: Sequence[int],
) -> pd.DataFrame:
    """Return task, norm, items (of a training sequence, on average), seed, length and accuracy (a fraction)."""
    params = read_params({**SCALES["paper"], **STEPS, **changes}, ROOT / "params.yaml")
    trained = train(params, task, norm, seeds, "long")
    draws = -(-trained.plan.steps // STEPS_PER_DRAW)
    items = np.concatenate([lengths(trained.plan, draw) for draw in range(draws)])
    found = evaluate(trained, sequences=SEQUENCES).query("rule == 'plain'")
    return found.assign(task=task, norm=norm, items=items[: trained.plan.steps].mean())


def markdown(found: pd.DataFrame) -> str:
    """Return, a task, a row a setting and normaliser: distance from the paper's accuracies, these, and ln's gain."""
    paper = read_csv(REFERENCE).query("quantity == 'accuracy_pct' and range == 'long' and rule == 'plain'")
    lines = ["# Trained on up to 256: what may explain Tables 4 and 5", "", INTRODUCTION, ""]
    for task, of_task in found.groupby("task", sort=False):
        theirs = paper[paper["task"] == task].set_index(["variant", "length"])["value"].dropna()
        lasting = theirs["none"].index
        head = ["setting", "norm", "n", "items", "from the paper's (pp)", *map(power, lasting), "gain beyond 256 (pp)"]
        rows = [row for name, of in of_task.groupby("setting", sort=False) for row in _rows(str(name), of, theirs)]
        rows += [["paper", norm, "100", "", "", *theirs[norm].map("{:.1f}".format), ""] for norm in ("none", "ln")]
        lines += [f"## {task}", "", table(head, rows), ""]
    return "\n".join(lines)


def _rows(name: str, of: pd.DataFrame, theirs: pd.Series) -> Iterator[list[str]]:
    """Yield the row of each normaliser of a setting; its gain is over none, seed by seed."""
    of = of.assign(percent=100 * of["accuracy"])
    beyond = of[of["length"] > LONGEST].groupby(["norm", "seed"])["percent"].mean()
    for norm, models in of.groupby("norm", sort=False):
        percent = models.pivot_table(index="seed", columns="length", values="percent")
        papers = theirs.get(norm, theirs["none"].iloc[:0])
        away = (percent[papers.index].mean() - papers).abs().mean()
        gain = (beyond[norm] - beyond["none"]).dropna().to_numpy() if norm != "none" and "none" in beyond else []
        yield [
            *(name, str(norm), str(len(percent)), f"{models['items'].mean():.0f}"),
            estimate(".1f", away),
            *(mean_estimate(percent[length].to_numpy(), ".1f") for length in theirs["none"].index),
            mean_estimate(np.asarray(gain), "+.1f") if len(gain) else "",
        ]


if __name__ == "__main__":
    main()
