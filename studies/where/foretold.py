"""How often another item than the target has the largest logit, foretold from short sequences, and measured.

`python studies/where/foretold.py` writes foretold.md and foretold.png from foretold.csv; with names of studies, or
`default` for that of params.yaml, it first puts their trained models at hand in it, in place of their former rows.

Of a model, the logits of single items are read: those of the target and of SEQUENCES other sequences' items, for the
queries of QUERIES sequences of the longest training length. Of N − 1 such items, independent, none is above the
target's logit t with probability (1 − P(l > t))^(N − 1), the tail by a generalised Pareto distribution (Hosking and
Wallis 1987, probability-weighted moments) of the TAIL largest. Accuracy is by the mean field: O of the target's weight
e^t / (e^t + (N − 1) E e^l) and the mean other item's, read by the model, where the target has the largest logit.

Q queries, M items, P features of a context.
"""

import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from jaxtyping import Bool, Float
from scipy.stats import genpareto

from vanishing_variance import engines
from vanishing_variance.engine.plan import TrainingPlan
from vanishing_variance.engine.seeds import seeds
from vanishing_variance.engine.streams import stream
from vanishing_variance.engine.task import TARGET, Embedded, Sequences
from vanishing_variance.figures import style
from vanishing_variance.figures.drawing import Drawing, write_figure
from vanishing_variance.harness.arrays import read_arrays
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.frames import read_csv, write_csv
from vanishing_variance.harness.numbers import power, table_of
from vanishing_variance.harness.script import run_script
from vanishing_variance.measure.inference.models import Models, select_models
from vanishing_variance.measure.inference.sequences import of_length
from vanishing_variance.results.arms import SHOWN
from vanishing_variance.results.columns import rounded, rows
from vanishing_variance.studies.kept import read_run
from vanishing_variance.studies.plan import read_plan

HERE = Path(__file__).parent
SEQUENCES, QUERIES, TAIL = 4096, 256, 400
DEFAULT = "default"
KEYS = ["study", "task", "line", "seed", "length"]
HEADS = ("another item first (%)", "foretold", "accuracy (%)", "foretold ")
NOTE = (
    "Means over n models. *Another item first*: the target has not the largest logit. Foretold: from logits of single "
    "items of sequences as long as in training, by extreme values; accuracy by the mean field."
)
COLUMNS = [*KEYS, "misranked", "foretold_misranked", "accuracy", "foretold_accuracy"]


def main() -> None:
    """Write the table and the picture, with the models of the studies that are named."""
    path = HERE / "foretold.csv"
    for name in sys.argv[1:]:
        known = read_csv(path, *COLUMNS) if path.exists() else pd.DataFrame(columns=COLUMNS)
        found = pd.concat([known[known["study"] != name], of_study(name)], ignore_index=True)
        write_csv(path, rounded(found.sort_values(KEYS, kind="stable")))
    for name, text in tables().items():
        write_text(HERE / name, text)
    write_figure(HERE / "foretold", draw(read_csv(path, *COLUMNS)))


def tables() -> dict[str, str]:
    """Return the means of each arm, measured and foretold, as Markdown."""
    models = read_csv(HERE / "foretold.csv", *COLUMNS)
    numbers = ["misranked", "foretold_misranked", "accuracy", "foretold_accuracy"]
    found = models[models["length"].isin(SHOWN)].groupby(["task", "study", "line", "length"], sort=False)
    means = 100 * found[numbers].mean()
    apart = pd.DataFrame({name: (means[name] - means[f"foretold_{name}"]).abs() for name in numbers[::2]})
    largest = apart.groupby(["task", "length"], sort=False).max().sort_index().round(1).reset_index()
    largest["length"] = largest["length"].map(power)
    largest = largest.set_axis(["task", "length", HEADS[0], HEADS[2]], axis=1).astype(str)
    cells = means.map("{:.1f}".format).reset_index()
    cells.insert(4, "n", found.size().to_numpy())
    cells["length"] = cells["length"].map(power)
    named = cells.rename(columns=dict(zip(numbers, HEADS, strict=True))).astype(str)
    parts = [
        "# Foretold from short sequences",
        table_of(named, texts=4),
        NOTE,
        "Points between measured and foretold, at most, over the arms of a task:",
        table_of(largest, texts=2),
    ]
    return {"foretold.md": "\n\n".join(parts) + "\n"}


def of_study(name: str) -> pd.DataFrame:
    """Return what is foretold and measured of the trained models of a study that are at hand."""
    planned = read_plan("" if name == DEFAULT else name)
    frames = []
    for key in planned.document["train"]:
        run = planned.run(key)
        if run.weights.exists():
            plan = engines.plan_of(planned.params(key, "train"), run)
            measured = read_run(run)
            if "misranked_last" in measured and not plan.is_plain:
                frames.append(beside(foretold(plan, read_arrays(run.weights), run.block, measured), measured))
    if not frames:
        raise InputError(f"{name} has no trained models here of the paper's network, tested with measure: [inside]")
    return pd.concat(frames, ignore_index=True).assign(study=name)[COLUMNS]


def beside(foretold: pd.DataFrame, measured: pd.DataFrame) -> pd.DataFrame:
    """Return both side by side; misranked is here every answer of which another item has the largest logit."""
    measured = measured.assign(misranked=measured["misranked_last"] + measured["right_misranked_last"])
    columns = ["task", "line", "seed", "length", "misranked", "last"]
    return foretold.merge(measured[columns].rename(columns={"last": "accuracy"}))


def foretold(plan: TrainingPlan, weights: dict[str, np.ndarray], block: int, measured: pd.DataFrame) -> pd.DataFrame:
    """Return seed, length and what is foretold of every model of a block at the measured lengths beyond training."""
    lengths = [int(length) for length in measured["length"].unique() if length > plan.lengths.longest]
    found = []
    number = len(next(iter(weights.values())))
    for place, seed in enumerate(seeds(block, number)):
        models = Models.of(plan.variant, select_models(weights, slice(place, place + 1)))
        for length, misranked, accuracy in of_model(models, plan, lengths):
            found.append((seed, length, misranked, accuracy))
    return pd.DataFrame(found, columns=["seed", "length", "foretold_misranked", "foretold_accuracy"])


@torch.no_grad()
def of_model(models: Models, plan: TrainingPlan, lengths: list[int]) -> Iterator[tuple[int, float, float]]:
    """Yield each length with the fractions of the sequences that are foretold to be misranked, and right."""
    task, shortest = models.task, plan.lengths.longest
    rng = stream(plan.root_seed, "foretold", plan.variant.task_name)
    [drawn] = of_length(task, rng, SEQUENCES, shortest, SEQUENCES)
    queries = {name: array[:QUERIES] for name, array in drawn.items()}
    _, folded = models.encode(queries)  # (1, Q, P)
    pool = {name: drawn[name].reshape(1, -1) for name in task.items} | {name: drawn[name][:1] for name in task.query}
    items, _ = models.encode(pool, shortest)
    hidden = items.hidden()[0, 0]  # (M, P)
    logits = folded[0] @ hidden.T  # (Q, M)
    targets = torch.arange(QUERIES) * shortest + torch.from_numpy(queries[TARGET])
    of_target = logits.gather(1, targets.unsqueeze(1))
    others = torch.from_numpy(is_other(models, pool, queries)).scatter(1, targets.unsqueeze(1), value=False)
    above = torch.tensor([tail(*pair) for pair in zip((logits - of_target).numpy(), others.numpy(), strict=True)])
    relative = (logits - of_target).masked_fill(~others, -torch.inf)
    for length in lengths:
        factor = float(models.network.factor(models.weights, length) / models.network.factor(models.weights, shortest))
        ranked = (1 - above) ** (length - 1)
        odds = (factor * relative).exp() * (length - 1) / others.sum(1, keepdim=True)
        context = (hidden[targets] + odds @ hidden) / (1 + odds.sum(1, keepdim=True))
        right = models.class_logits(context.unsqueeze(0))[0].argmax(-1) == models.labels(queries)
        yield length, (1 - ranked).mean().item(), (ranked * right).mean().item()


def is_other(models: Models, pool: Sequences, queries: Sequences) -> Bool[np.ndarray, "Q M"]:
    """Return which items of the pool do not match a query: of a feature from one learned table with it."""
    found = np.ones((QUERIES, next(iter(pool.values())).shape[1]), dtype=bool)
    for (item, ours), (query, theirs) in product(models.task.items.items(), models.task.query.items()):
        if isinstance(ours, Embedded) and isinstance(theirs, Embedded) and ours.table == theirs.table:
            found &= pool[item] != queries[query][:, None]
    return found


def tail(relative: Float[np.ndarray, " M"], others: Bool[np.ndarray, " M"]) -> float:
    """Return the probability that the logit of another item is above the target's, to which they are `relative`."""
    logits = np.sort(relative[others])
    start = logits[-TAIL - 1]
    if start >= 0:
        return float((logits > 0).mean())
    beyond = logits[-TAIL:] - start
    mean = beyond.mean()
    weighted = (beyond * (1 - (np.arange(1, TAIL + 1) - 0.35) / TAIL)).mean()
    shape, scale = 2 - mean / (mean - 2 * weighted), 2 * mean * weighted / (mean - 2 * weighted)
    return TAIL / len(logits) * float(genpareto.sf(-start, shape, scale=scale))


def draw(found: pd.DataFrame) -> Drawing:
    """Draw foretold against measured on the dictionary, at the longest length: a panel a quantity, a point a model."""
    shown = rows(found, task="dictionary", length=found["length"].max())
    parts = []
    for name, title in (("misranked", "another item first (%)"), ("accuracy", "accuracy (%)")):
        both = shown[["task"]].assign(arm=shown["line"] + " (" + shown["study"] + ")", what=title)
        both["measured"] = 100 * shown[name]
        parts.append(both.assign(foretold=100 * shown[f"foretold_{name}"]))
    together = pd.concat(parts, ignore_index=True)
    figure, panels = style.facets(together, "task", "what", margin=1.2, height=3)
    hollow = [{**look, "mfc": "none"} for look in style.SERIES]
    arms = dict(zip(together["arm"].unique(), [*style.SERIES, *hollow], strict=False))
    for axes, task, what, points in panels:
        axes.plot([0, 100], [0, 100], color=style.GREY, lw=0.6)
        for arm, look in arms.items():
            of_arm = rows(points, arm=arm)
            axes.plot(of_arm["measured"], of_arm["foretold"], **{**look, "linestyle": "none"}, label=arm)
        axes.set(title=f"{task}: {what}", xlabel="measured", ylabel="foretold", xlim=(-2, 102), ylim=(-2, 102))
        axes.label_outer()
    style.legend_above(figure, columns=3)
    longest = int(found["length"].max())
    style.note(
        figure, f"a mark is a model, at {longest:,} items; foretold from sequences of the longest training length"
    )
    caption = (
        "A point is a model at the longest length; foretold from single items of sequences of the training lengths."
    )
    return Drawing(figure, "Foretold and measured", caption)


if __name__ == "__main__":
    run_script(main)
