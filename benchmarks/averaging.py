"""The loss changed without changing the training: `python -m benchmarks.averaging TASK [PROTOCOL ...]`.

The trainings of some protocols (`protocols.py`), none and ln, tested with their last weights and with the mean of
those of the last tenth of the steps (Polyak and Juditsky 1992). Training is the same to the bit; the mean has less of
the noise of its constant rate. Writes metrics/averaging.csv and averaging.md; seeds that are there already are not run
again. docs/protocol.md has what was foretold.
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice

import numpy as np
import pandas as pd
import torch

from benchmarks import ROOT
from benchmarks.protocols import LONGEST, LOWER, NORMS, STEPS, add_missing, tested
from benchmarks.rows import read_rows
from vanishing_variance.engine.batches import batches
from vanishing_variance.engine.initialisation import draw
from vanishing_variance.engine.interfaces import Weights
from vanishing_variance.engine.loop import losses, train
from vanishing_variance.engine.plan import TrainingPlan
from vanishing_variance.harness.files import write_text
from vanishing_variance.harness.markdown import table
from vanishing_variance.harness.parallel import Report
from vanishing_variance.harness.runs import METRICS
from vanishing_variance.statistics.intervals import mean_estimate

# Of the dictionary's protocols the study's, Veličković et al.'s, the two in which ln gains most of 8 seeds and of all,
# and two in which it does not gain; of argmax the study's. With how many seeds, from 0 on.
TRIED = {
    "dictionary": {
        "biases": 16,
        "width 128, logits not scaled": 8,
        "width 128, no W_O, logits not scaled, biases": 8,
        "GELU after both layers": 8,
        "base": 8,
        "std 1": 8,
    },
    "argmax": {"biases": 8},
}
# The last part of the steps, over which the weights are averaged.
AVERAGED = 0.1
# Batches of training, drawn after the last step, on which the loss of both is measured.
BATCHES = 200
WEIGHTS = ("last", "mean")
PLACES = [(weights, norm) for weights in WEIGHTS for norm in NORMS]
COLUMNS = ["task", "protocol", "norm", "weights", "seed", "rule", "length", "accuracy", "loss", "entropy"]
INTRODUCTION = (
    "By `python -m benchmarks.averaging`. Each training is tested twice: with its *last* weights, and with the *mean* "
    "of the weights after every tenth step of the last tenth of the steps. *Loss*: cross-entropy on 200 batches of "
    "training (nats), the same for both. *Gain*: accuracy of ln − none beyond 16 items (pp), plain softmax, 512 test "
    "sequences a length, with its 95% interval over n seeds; *mean − last*: what averaging adds to that accuracy. *As "
    f"foretold*: whether the gain of the mean weights is above 0 where the loss of ln is lower by {LOWER} nats or "
    "more, and nowhere else. Protocols: metrics/protocols.md. What this says: docs/protocol.md."
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("task", choices=STEPS)
    parser.add_argument("protocol", nargs="*", help="those of the task in TRIED")
    chosen = parser.parse_args()
    tried = TRIED[chosen.task]
    if unknown := set(chosen.protocol) - set(tried):
        parser.error(f"protocol: {', '.join(sorted(unknown))}: choose from: {'; '.join(tried)}")
    path = ROOT / METRICS / "averaging.csv"
    for name in chosen.protocol or tried:
        add_missing(path, COLUMNS, chosen.task, name, tried[name], measured)
    write_text(path.with_suffix(".md"), markdown(read_rows(path, COLUMNS)))


def measured(plan: TrainingPlan, seeds: Sequence[int], report: Report) -> pd.DataFrame:
    """Return norm, weights, seed, rule, length, accuracy (a fraction), and loss and entropy (nats)."""
    last, mean = trained(plan, seeds, report)
    rows = []
    for name, weights in zip(WEIGHTS, (last, mean), strict=True):
        loss = training_loss(plan, seeds, weights)
        for rule, length, accuracy, entropy in tested(plan, weights):
            cells = zip(seeds, accuracy.tolist(), loss.tolist(), entropy.tolist(), strict=True)
            rows += [(plan.variant.norm_name, name, seed, rule, length, *cell) for seed, *cell in cells]
    return pd.DataFrame(rows, columns=COLUMNS[2:])


def trained(plan: TrainingPlan, seeds: Sequence[int], report: Report) -> tuple[Weights, Weights]:
    """Return the last weights of a training and the mean."""
    weights = draw(plan.variant.initial(plan.task_training), plan.root_seed, plan.variant.task_name, seeds)
    training = plan.training.model_copy(update={"averaged_part": AVERAGED})
    _, others = train(replace(plan, training=training), weights, seeds, report)
    return weights, others["averaged"]


@torch.no_grad()
def training_loss(plan: TrainingPlan, seeds: Sequence[int], weights: Weights) -> np.ndarray:
    """Return each seed's loss (nats) on the batches that training would have had next, (S,)."""
    network, drawn = plan.variant.network(), islice(batches(plan, seeds, plan.steps), BATCHES)
    made = [losses(network, weights, batch, labels).mean(1) for batch, labels in drawn]
    return torch.stack(made).mean(0).numpy()


def markdown(found: pd.DataFrame) -> str:
    """Return a row a protocol: losses and gains with the last weights and with the mean, and how the gain changes."""
    cells = [f"{norm}, {weights}" for weights, norm in PLACES]
    head = ["task", "protocol", "n", *(f"loss, {cell}" for cell in cells)]
    head += ["gain, last (pp)", "gain, mean (pp)", "change (pp)", "as foretold"]
    head += [f"mean − last, {norm} (pp)" for norm in NORMS]
    head += [f"accuracy beyond 16 (%), {cell}" for cell in cells] + [f"entropy at 2^4 (nats), {cell}" for cell in cells]
    rows, plain = [], found[found["rule"] == "plain"]
    for (task, protocol), of in plain.groupby(["task", "protocol"], sort=False):
        beyond = of[of["length"] > LONGEST].groupby(["weights", "norm", "seed"])["accuracy"].mean() * 100
        inside = of[of["length"] == LONGEST].groupby(["weights", "norm"])[["loss", "entropy"]].mean()
        gains = [(beyond[weights, "ln"] - beyond[weights, "none"]).to_numpy() for weights in WEIGHTS]
        added = [(beyond["mean", norm] - beyond["last", norm]).to_numpy() for norm in NORMS]
        loss, entropy = inside["loss"], inside["entropy"]
        foretold = loss["mean", "none"] - loss["mean", "ln"] >= LOWER
        rows.append(
            [
                str(task),
                str(protocol),
                str(len(gains[0])),
                *(f"{loss[place]:.4f}" for place in PLACES),
                *(mean_estimate(gain, "+.1f") for gain in (*gains, gains[1] - gains[0])),
                "yes" if foretold == (gains[1].mean() > 0) else "no",
                *(mean_estimate(of, "+.1f") for of in added),
                *(f"{beyond[place].mean():.1f}" for place in PLACES),
                *(f"{entropy[place]:.2f}" for place in PLACES),
            ]
        )
    unrun = [
        f"{task}, {name}" for task, of in TRIED.items() for name in of if [task, name] not in [r[:2] for r in rows]
    ]
    lines = ["# Averaged weights", "", INTRODUCTION, "", table(head, rows), ""]
    return "\n".join(lines + ([f"Of the list, not run: {'; '.join(unrun)}.", ""] if unrun else []))


if __name__ == "__main__":
    main()
