"""A step of the plain engine beside a bare loop by hand, one thread each: `python -m benchmarks.networks`.

Both draw the same batches within the time. A value is the median of five rounds, in turn, of 200 steps of one seed.
"""

import time
from statistics import median

import pandas as pd
import torch
from torch.nn.functional import cross_entropy

from benchmarks import ROOT
from benchmarks.machine import machine
from vanishing_variance.engine import loop
from vanishing_variance.engine.batches import batches
from vanishing_variance.engine.device import device
from vanishing_variance.engine.plan import TrainingPlan
from vanishing_variance.engine.run import Run
from vanishing_variance.harness.parallel import single_threaded
from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.params import changed
from vanishing_variance.plain.gradients import Single
from vanishing_variance.plain.model import initial_model
from vanishing_variance.plain.plan import PlainPlan
from vanishing_variance.plain.training import PlainSteps

STEPS, ROUNDS = 200, 5


def bare(plan: PlainPlan) -> None:
    """Train one seed as a page of torch's documentation does."""
    model = initial_model(plan, 0).to(device())
    optimiser = torch.optim.AdamW(model.parameters(), plan.training.learning_rate, weight_decay=0.0, fused=True)
    data = batches(plan, [0])
    for _ in range(plan.steps):
        batch, labels = next(data)
        class_logits = model({name: array[0].to(device()) for name, array in batch.items()})
        loss = cross_entropy(class_logits, labels[0].to(device()))
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()


def ours(plan: PlainPlan) -> None:
    loop.train(plan, PlainSteps(plan, Single(initial_model(plan, 0).to(device())), [0]), [0])


def main() -> None:
    device()
    single_threaded()
    rows = []
    for task in ("argmax", "dictionary"):
        params = changed(read_yaml(ROOT / "params.yaml"), {f"tasks.{task}.steps.short": STEPS})
        for network in ("paper", "transformer"):
            run = Run(task, "ln", 0, norm="ln")
            if network == "paper":
                plan = PlainPlan.of_paper(TrainingPlan.of(params, run))
            else:
                plan = PlainPlan.of_network(params, run, network)
            seconds: dict[str, list[float]] = {"bare": [], "ours": []}
            for _ in range(ROUNDS):
                for way, train in (("bare", bare), ("ours", ours)):
                    start = time.perf_counter()
                    train(plan)
                    seconds[way].append(time.perf_counter() - start)
            ms = {way: 1e3 * median(of_way) / STEPS for way, of_way in seconds.items()}
            rows.append({"task": task, "network": network, **ms, "ours / bare": ms["ours"] / ms["bare"]})
    print(machine()["device"])
    print(pd.DataFrame(rows).to_markdown(index=False, floatfmt=".3g"))


if __name__ == "__main__":
    main()
