"""How the longest training length grows to 256 (B.2 does not say): `python -m benchmarks.growth TASK [GROWTH ...]`.

The study's network (params.yaml), the paper's numbers of steps, seeds from 8 on, at most to 15, which the record does
not have; plain softmax. Writes metrics/growth.csv and growth.md; seeds that are there already are not trained again.
docs/decisions.md has the rule by which one was chosen.
"""

import argparse
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from benchmarks import ROOT
from vanishing_variance import evaluate, read_params, train
from vanishing_variance.core.files import write_text
from vanishing_variance.core.frames import read_csv, write_csv
from vanishing_variance.study.markdown import mean_estimate, power, table
from vanishing_variance.study.runs import METRICS, REFERENCE
from vanishing_variance.study.scale import SCALES
from vanishing_variance.training.batches import STEPS_PER_DRAW, lengths

FIRST_SEED, SEEDS, SEQUENCES, LONGEST = 8, 8, 1024, 256
TASKS = ("argmax", "dictionary")


def _growth(shape: str, until: float) -> dict[str, Any]:
    return {"shape": shape, "start": 16, "until": until}


GROWTHS: dict[str, dict[str, Any] | None] = {
    "geometric, over all steps": _growth("geometric", 1.0),
    "geometric, over half of them": _growth("geometric", 0.5),
    "linear, over all steps": _growth("linear", 1.0),
    "linear, over half of them": _growth("linear", 0.5),
    "none": None,
}
# Networks beside the study's, tried after growth had explained nothing: no W_O, no √D, wider embeddings, as Veličković et
# al. (2024) are said to have them, and the study's without √D.
VELICKOVIC = {
    **{"model.scaled_logits": False, "model.output_projection": False},
    **{"tasks.dictionary.training.embedding_width": 128, "tasks.dictionary.training.embedding_std": 0.0884},
}
SETTINGS: dict[str, dict[str, Any]] = {
    **{name: {"ranges.long.growth": growth} for name, growth in GROWTHS.items()},
    "Veličković et al.'s network": VELICKOVIC,
    "logits not scaled": {"model.scaled_logits": False},
}
KEYS = ["task", "growth", "norm", "items", "seed", "length", "accuracy"]
INTRODUCTION = (
    "How the longest training length grows from 16 to 256, by `python -m benchmarks.growth`: *linear* by as many items "
    "in every step, *geometric* by the same factor, over all of the steps or the first half; *none*: 256 from the "
    "first step on. *Items*: of a training sequence, on average. *From the paper's*: mean absolute difference of the "
    "accuracies of `none` that survive in Tables 4 and 5 (pp). Plain softmax, 1,024 test sequences a length, 95% "
    "intervals over n seeds. Which was chosen, and by which rule: docs/decisions.md."
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("growth", nargs="*", help=f"one of: {'; '.join(SETTINGS)}")
    parser.add_argument("--norm", default="none", help="none; a file of norms/")
    parser.add_argument("--seeds", type=int, default=SEEDS, help=f"{SEEDS}; 4 to see which are far from the paper")
    chosen = parser.parse_intermixed_args()
    if not 1 <= chosen.seeds <= SEEDS:
        parser.error(f"seeds: {chosen.seeds} must be from 1 to {SEEDS}: those after them are the record's")
    if unknown := set(chosen.growth) - set(SETTINGS):
        parser.error(f"growth: {', '.join(sorted(unknown))}: choose from: {'; '.join(SETTINGS)}")
    path = ROOT / METRICS / "growth.csv"
    for name in chosen.growth or SETTINGS:
        found = read_csv(path) if path.exists() else pd.DataFrame(columns=KEYS)
        there = set(found.query("task == @chosen.task and growth == @name and norm == @chosen.norm")["seed"])
        if not (missing := [seed for seed in range(FIRST_SEED, FIRST_SEED + chosen.seeds) if seed not in there]):
            continue
        print(f"{chosen.task}, {chosen.norm}: {name}", file=sys.stderr, flush=True)
        made = measured(chosen.task, chosen.norm, SETTINGS[name], missing).assign(growth=name)[KEYS]
        found = pd.concat([found, made], ignore_index=True) if len(found) else made
        write_csv(path, found)
        write_text(path.with_suffix(".md"), markdown(found))


def measured(
    task: str,
    norm: str,
    changes: Mapping[str, Any],
    seeds: Sequence[int],
) -> pd.DataFrame:
    """Return task, norm, items (of a training sequence, on average), seed, length and accuracy (a fraction)."""
    params = read_params({**SCALES["paper"], **changes}, ROOT / "params.yaml")
    trained = train(params, task, norm, seeds, "long")
    draws = -(-trained.plan.task_training.steps // STEPS_PER_DRAW)
    items = np.concatenate([lengths(trained.plan, draw) for draw in range(draws)])
    found = evaluate(trained, sequences=SEQUENCES).query("temperature == 'plain'")
    return found.assign(task=task, norm=norm, items=items[: trained.plan.task_training.steps].mean())


def markdown(found: pd.DataFrame) -> str:
    """Return, a task, a row a growth: items, distance from the paper's `none`, its accuracies, and what ln gains."""
    paper = read_csv(REFERENCE).query("quantity == 'accuracy_pct' and variant == 'none' and range == 'long'")
    lines = ["# How the training lengths grow", "", INTRODUCTION, ""]
    for task, of_task in found.groupby("task", sort=False):
        of = paper[(paper["task"] == task) & (paper["temperature"] == "plain")]
        theirs = of.set_index("length")["value"].dropna()
        head = ["growth", "n", "items", "from the paper's (pp)", *map(power, theirs.index), "ln − none beyond 256 (pp)"]
        rows = [_row(str(name), of, theirs) for name, of in of_task.groupby("growth", sort=False)]
        rows.append(["paper", "100", "", "", *theirs.map("{:.1f}".format), ""])
        lines += [f"## {task}, `none`", "", *table(head, rows), ""]
    return "\n".join(lines)


def _row(name: str, of: pd.DataFrame, theirs: pd.Series) -> list[str]:
    of = of.assign(percent=100 * of["accuracy"])
    none = of[of["norm"] == "none"].pivot_table(index="seed", columns="length", values="percent")
    beyond = of[of["length"] > LONGEST].groupby(["norm", "seed"])["percent"].mean()
    gain = (beyond["ln"] - beyond["none"]).dropna().to_numpy() if "ln" in set(of["norm"]) else np.array([])
    return [
        name,
        str(len(none)),
        f"{of['items'].mean():.0f}",
        f"{(none[theirs.index].mean() - theirs).abs().mean():.1f}",
        *(mean_estimate(none[length].to_numpy(), ".1f") for length in theirs.index),
        mean_estimate(gain, "+.1f") if len(gain) else "",
    ]


if __name__ == "__main__":
    main()
