"""The plain way: one `nn.Module` a seed, Adam, a Python loop, torch's own threads; written as the paper is written."""

import torch
from torch.nn.functional import cross_entropy

from benchmarks.clock import per_unit
from benchmarks.workload import Workload
from vanishing_variance.engine.device import device
from vanishing_variance.networks.paper import state_of_seed
from vanishing_variance.plain.model import PlainModel
from vanishing_variance.plain.plan import PlainPlan


def models(work: Workload) -> list[PlainModel]:
    """One module a seed."""
    plan, weights = PlainPlan.of_paper(work.plan()), work.weights(list(range(work.seeds)))
    made = []
    for seed in range(work.seeds):
        model = PlainModel(plan).to(device())
        model.load_state_dict(state_of_seed(weights, seed))
        made.append(model)
    return made


def train(work: Workload) -> float:
    """Milliseconds a gradient step and seed, the data drawn beforehand."""
    batches, trained = work.batches(work.seeds), []
    for model in models(work):
        trained.append((model, torch.optim.Adam(model.parameters(), lr=work.plan().training.learning_rate)))

    def steps() -> None:
        for seed, (model, optimiser) in enumerate(trained):
            for batch, labels in batches:
                loss = cross_entropy(model({name: array[seed] for name, array in batch.items()}), labels[seed])
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()

    return per_unit(steps, len(batches) * work.seeds)


@torch.no_grad()
def evaluate(work: Workload) -> float:
    """Milliseconds a test sequence and model; with the plain softmax alone."""
    tested, parts = models(work), work.test_batches()

    def forward() -> None:
        for model in tested:
            for part in parts:
                model(part).argmax(-1)

    return per_unit(forward, work.amount * work.seeds)
