import pytest
import torch

from vanishing_variance.training import adam as module
from vanishing_variance.training.adam import adam

SEEDS, ROWS, WIDTH, STEPS = 2, 40, 8, 150

needs_compiler = pytest.mark.skipif(module.library() is None, reason="no C compiler")
# A step moves a weight by up to 0.01: one too many, or one too few, is far above this. Roundings add up to some 1e-5,
# and to ten times that where an average of the gradient passes through 0.
TOLERANCE = {"rtol": 0, "atol": 1e-3}


def weights(dtype=torch.float32, width=WIDTH):
    generator = torch.Generator().manual_seed(0)
    shapes = {"table": (SEEDS, ROWS, width), "other": (SEEDS, 5)}
    return {name: torch.randn(shape, generator=generator).to(dtype) for name, shape in shapes.items()}


def touched(step):
    """Some rows, others never; the first one again at the end, as `touched_rows` pads them."""
    generator = torch.Generator().manual_seed(step)
    rows = torch.stack([torch.randperm(ROWS - 5, generator=generator)[:7] for _ in range(SEEDS)])
    return torch.cat((rows, rows[:, :1]), 1)


def gradients(named, step):
    """As a backward pass leaves them: rows that are not touched have none, and the repeated one has 0."""
    rows = touched(step)
    read = torch.stack([named["table"].detach()[seed, rows[seed]] for seed in range(SEEDS)])
    of_read = 0.01 * (rows + 1).unsqueeze(-1) * read.cos() + 0.001 * step
    of_read[:, -1] = 0
    of_table = torch.zeros_like(named["table"])
    for seed in range(SEEDS):
        of_table[seed].index_add_(0, rows[seed], of_read[seed])
    return of_table, of_read, named["other"].detach().sin()


def constant(steps, rate=0.01):
    return torch.full((steps,), rate, dtype=torch.float64)


def falling(steps):
    return 0.01 * (steps - torch.arange(steps, dtype=torch.float64)) / steps


def stepped(named, decay=0.1, steps=STEPS, finish_at=(), rates=constant):
    optimiser = adam(named, ("table",), rates(steps), decay)
    for step in range(1, steps + 1):
        read = optimiser.read({"table": touched(step)})["table"]
        _, read.grad, named["other"].grad = gradients(named, step)
        optimiser.step()
        if step in finish_at:
            optimiser.finish()
    optimiser.finish()
    return named


@pytest.mark.parametrize("compiled", [pytest.param(True, marks=needs_compiler), False])
@pytest.mark.parametrize("rates", [constant, falling])
@pytest.mark.parametrize("decay", [0.0, 1.0])
@pytest.mark.parametrize("width", [WIDTH, 64, 100])
def test_rows_that_step_late_are_where_adam_on_the_whole_table_is(width, decay, rates, compiled, monkeypatch):
    if not compiled:
        monkeypatch.setattr(module, "library", lambda: None)
    ours, exact = stepped(weights(width=width), decay, rates=rates), weights(torch.float64, width)
    plain = torch.optim.AdamW(exact.values(), weight_decay=decay)
    for step in range(1, STEPS + 1):
        plain.param_groups[0]["lr"] = rates(STEPS)[step - 1].item()
        exact["table"].grad, _, exact["other"].grad = gradients(exact, step)
        plain.step()
    for name in ours:
        torch.testing.assert_close(ours[name].double(), exact[name], **TOLERANCE)
    moved = (exact["table"] - weights(torch.float64, width)["table"]).abs().amax(-1)
    assert (moved[:, : ROWS - 5] > 1e-3).all()


@needs_compiler
def test_when_rows_catch_up_changes_nothing_but_rounding():
    often, late = stepped(weights(), finish_at=range(STEPS)), stepped(weights())
    for name in often:
        torch.testing.assert_close(often[name], late[name], **TOLERANCE)


@needs_compiler
def test_a_row_that_waits_for_long_is_as_exact_as_one_that_never_waits():
    """Reciprocals are carried from step to step: their errors must not add up."""
    steps, named, exact = 3000, weights(), weights(torch.float64)
    optimiser, plain = (
        adam(named, ("table",), constant(steps, 0.001), 0.0),
        torch.optim.AdamW(exact.values(), 0.001, weight_decay=0),
    )
    for step in range(1, steps + 1):
        first = step == 150
        rows = touched(1) if first else torch.full((SEEDS, 1), ROWS - 1)
        read = optimiser.read({"table": rows})["table"]
        read.grad, named["other"].grad = torch.full_like(read, float(first)), torch.zeros_like(named["other"])
        read.grad[:, -1] = 0
        optimiser.step()
        exact["table"].grad, exact["other"].grad = torch.zeros_like(exact["table"]), torch.zeros_like(exact["other"])
        for seed in range(SEEDS):
            exact["table"].grad[seed, touched(1)[seed]] = float(first)
        plain.step()
    optimiser.finish()
    moved = named["table"].double() - weights(torch.float64)["table"]
    expected = exact["table"] - weights(torch.float64)["table"]
    assert expected.abs().max() > 1e-3
    torch.testing.assert_close(moved, expected, rtol=1e-4, atol=1e-6)


@needs_compiler
@pytest.mark.parametrize("rows", [torch.full((SEEDS, 3), ROWS), torch.full((SEEDS, 3), -1), torch.zeros(1, 3)])
@pytest.mark.usefixtures("unchecked")
def test_rows_that_are_not_there_are_refused(rows):
    optimiser = adam(weights(), ("table",), constant(5), 0.0)
    with pytest.raises(IndexError, match=rf"of {SEEDS} tables of {ROWS} rows"):
        optimiser.read({"table": rows})


@pytest.mark.parametrize("compiled", [pytest.param(True, marks=needs_compiler), False])
def test_it_reads_the_rows_themselves(compiled, monkeypatch):
    if not compiled:
        monkeypatch.setattr(module, "library", lambda: None)
    named = weights()
    read = adam(named, ("table",), constant(5), 0.0).read({"table": touched(1)})["table"]
    for seed in range(SEEDS):
        assert torch.equal(read[seed], named["table"][seed, touched(1)[seed]])
    assert read.requires_grad
    assert read.is_leaf
