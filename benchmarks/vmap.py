"""The rival: `torch.func.vmap` over `stack_module_state` of the plain module, with fused Adam."""

import torch
from torch import Tensor
from torch.func import functional_call, grad_and_value, stack_module_state, vmap
from torch.nn.functional import cross_entropy

from benchmarks.clock import per_unit
from benchmarks.plain import models
from benchmarks.workload import Workload


def train(work: Workload) -> float:
    """Milliseconds a gradient step and seed, the data drawn beforehand."""
    stacked = models(work)
    weights, _ = stack_module_state(stacked)
    rate = work.plan().training.learning_rate
    optimiser = torch.optim.Adam(weights.values(), lr=rate, fused=True)

    def loss(weights: dict[str, Tensor], batch: dict[str, Tensor], labels: Tensor) -> Tensor:
        return cross_entropy(functional_call(stacked[0], weights, (batch,)), labels)

    gradients, batches = vmap(grad_and_value(loss)), work.batches(work.seeds)

    def steps() -> None:
        for batch, labels in batches:
            found, _ = gradients(weights, batch, labels)
            for name, tensor in weights.items():
                tensor.grad = found[name]
            optimiser.step()

    return per_unit(steps, len(batches) * work.seeds)


@torch.no_grad()
def evaluate(work: Workload) -> float:
    """Milliseconds a test sequence and model; with the plain softmax alone."""
    stacked = models(work)
    weights, _ = stack_module_state(stacked)

    def model(weights: dict[str, Tensor], part: dict[str, Tensor]) -> Tensor:
        logits: Tensor = functional_call(stacked[0], weights, (part,))
        return logits

    all_models, parts = vmap(model, in_dims=(0, None)), work.test_batches()

    def forward() -> None:
        for part in parts:
            all_models(weights, part).argmax(-1)

    return per_unit(forward, work.amount * work.seeds)
