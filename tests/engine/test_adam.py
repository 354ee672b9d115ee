import numpy as np
import pytest
import torch
from rounding import rounding

from vanishing_variance.engine import adam as module
from vanishing_variance.engine.adam import adam

# More steps than 100, after which reciprocals are carried from step to step.
SEEDS, ROWS, STEPS = 2, 40, 120
CONSTANT = torch.full((STEPS,), 0.01, dtype=torch.float64)
FALLING = torch.linspace(0.01, 0.002, STEPS, dtype=torch.float64)

needs_compiler = pytest.mark.skipif(module.library() is None, reason="no C compiler")


def weights(width=8):
    generator = torch.Generator().manual_seed(0)
    shapes = {"table": (SEEDS, ROWS, width), "other": (SEEDS, 5)}
    return {name: torch.randn(shape, generator=generator) for name, shape in shapes.items()}


def touched(step):
    """Some rows, others never; the first one again at the end, as `touched_rows` pads them."""
    generator = torch.Generator().manual_seed(step)
    rows = torch.stack([torch.randperm(ROWS - 5, generator=generator)[:7] for _ in range(SEEDS)])
    return torch.cat((rows, rows[:, :1]), 1)


def gradients(step, width):
    """Those of the rows that a step reads, with 0 for the repeated one, and of the other tensor.

    All are positive: Adam's average of them does not pass through 0, where rounding would change the sign of a step.
    """
    generator = torch.Generator().manual_seed(step)
    of_rows = 1 + torch.rand(SEEDS, 8, width, generator=generator)
    of_rows[:, -1] = 0
    return of_rows, 1 + torch.rand(SEEDS, 5, generator=generator)


def stepped(named, decay, rates, finish_at=(), snapshot_at=()):
    """Make the steps, in place; return copies of the weights after some of them."""
    snapshots = {}
    for tensor in named.values():
        tensor.requires_grad_()
    optimiser, width = adam(named, ("table",), rates, decay), named["table"].shape[2]
    for step in range(1, STEPS + 1):
        rows = touched(step)
        read = optimiser.read({"table": rows})["table"]
        assert all(torch.equal(read[seed], named["table"][seed, rows[seed]]) for seed in range(SEEDS))
        of_rows, of_other = gradients(step, width)
        ((read * of_rows).sum() + (named["other"] * of_other).sum()).backward()
        optimiser.step()
        if step in finish_at:
            optimiser.finish()
        if step in snapshot_at:
            snapshots[step] = optimiser.snapshot()
    optimiser.finish()
    return snapshots


def plainly_stepped(width, decay, rates, steps):
    """The weights after some steps, by torch's Adam on the whole table, in double precision."""
    exact = {name: tensor.double() for name, tensor in weights(width).items()}
    plain = torch.optim.AdamW(exact.values(), weight_decay=decay)
    for step in range(1, steps + 1):
        plain.param_groups[0]["lr"] = rates[step - 1].item()
        of_rows, of_other = (of.double() for of in gradients(step, width))
        exact["table"].grad, exact["other"].grad = torch.zeros_like(exact["table"]), of_other
        for seed in range(SEEDS):
            exact["table"].grad[seed].index_add_(0, touched(step)[seed], of_rows[seed])
        plain.step()
    return exact


def assert_equal_to_rounding(ours, exact, steps):
    """Compare weights after some steps."""
    for name, first in weights(exact["table"].shape[2]).items():
        # A step rounds a weight twice, and the last rows' last steps are far above that, 0.001 to 0.01.
        off = rounding(3 * steps, max(first.abs().max().item(), exact[name].abs().max().item()))
        torch.testing.assert_close(ours[name].detach().double(), exact[name], rtol=0, atol=off)


@pytest.fixture(params=[pytest.param("compiled", marks=needs_compiler), "by torch"])
def each_adam(request, monkeypatch):
    if request.param == "by torch":
        monkeypatch.setattr(module, "library", lambda: None)


@pytest.mark.usefixtures("each_adam")
@pytest.mark.parametrize(
    ("width", "decay", "rates", "finish_at"),
    [(8, 0.0, CONSTANT, [3, 4, 80]), (64, 1.0, FALLING, []), (100, 1.0, CONSTANT, [])],
)
def test_rows_that_step_late_are_where_adam_on_the_whole_table_is(width, decay, rates, finish_at):
    ours = weights(width)
    stepped(ours, decay, rates, finish_at)
    assert_equal_to_rounding(ours, plainly_stepped(width, decay, rates, STEPS), STEPS)


@pytest.mark.usefixtures("each_adam")
@pytest.mark.parametrize(("width", "decay", "rates"), [(8, 0.0, CONSTANT), (100, 1.0, FALLING)])
def test_a_snapshot_is_up_to_date_and_changes_no_bit_of_later_steps(width, decay, rates):
    with_snapshots, without = weights(width), weights(width)
    snapshots = stepped(with_snapshots, decay, rates, snapshot_at=[2, 90])
    stepped(without, decay, rates)
    assert all(torch.equal(with_snapshots[name], without[name]) for name in without)
    for step, copies in snapshots.items():
        assert_equal_to_rounding(copies, plainly_stepped(width, decay, rates, step), step)


@needs_compiler
def test_a_row_that_waits_for_long_is_as_exact_as_one_that_never_waits():
    """Reciprocals are carried from step to step: their errors must not add up."""
    rate, first, steps = 0.001, 150, 3000
    named = {"table": torch.zeros(SEEDS, ROWS, 8)}
    optimiser = adam(named, ("table",), torch.full((steps,), rate, dtype=torch.float64), 0.0)
    optimiser.resume(first - 1)
    read = optimiser.read({"table": torch.full((SEEDS, 1), 3)})["table"]
    read.grad = torch.ones_like(read)
    optimiser.step()
    optimiser.resume(steps)
    optimiser.finish()
    number = np.arange(first, steps + 1)
    mean = 0.1 * 0.9 ** (number - first) / (1 - 0.9**number)
    square = 0.001 * 0.999 ** (number - first) / (1 - 0.999**number)
    expected = torch.zeros(SEEDS, ROWS, 8)
    expected[:, 3] = -rate * (mean / (np.sqrt(square) + 1e-8)).sum()
    torch.testing.assert_close(named["table"], expected, rtol=1e-4, atol=0)
