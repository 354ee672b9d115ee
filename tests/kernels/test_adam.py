import pytest
import torch
from rounding import rounding

from vanishing_variance.kernels import adam
from vanishing_variance.kernels.adam import Adam

SEEDS, ROWS, WIDTH, STEPS = 2, 40, 8, 60

# Each step rounds both moments, their ratio and the weight.
OPERATIONS = 4 * STEPS

pytestmark = pytest.mark.skipif(adam._library(WIDTH) is None, reason="no C compiler")


def weights(dtype=torch.float32):
    generator = torch.Generator().manual_seed(0)
    shapes = {"table": (SEEDS, ROWS, WIDTH), "other": (SEEDS, 5)}
    return {name: torch.randn(shape, generator=generator).to(dtype) for name, shape in shapes.items()}


def wanted(step):
    """Some rows, a few of them twice, others never."""
    generator = torch.Generator().manual_seed(step)
    return torch.randint(ROWS - 5, (SEEDS, 7), generator=generator)


def gradients(named, step):
    """As a backward pass leaves them: rows that are not wanted have none."""
    rows = wanted(step)
    of_table = torch.zeros(SEEDS, ROWS, WIDTH, dtype=named["table"].dtype)
    for seed in range(SEEDS):
        for row in rows[seed].tolist():
            of_table[seed, row] += 0.01 * (row + 1) * named["table"].detach()[seed, row].cos() + 0.001 * step
    return of_table, named["other"].detach().sin()


def stepped(named, decay, steps=STEPS, finish_at=()):
    optimiser = Adam(named, ("table",), 0.01, decay, steps)
    for step in range(1, steps + 1):
        optimiser.prepare({"table": wanted(step)})
        of_table, of_other = gradients(named, step)
        named["table"].grad += of_table
        named["other"].grad = of_other
        optimiser.step({"table": wanted(step)})
        if step in finish_at:
            optimiser.finish()
    optimiser.finish()
    return named


@pytest.mark.parametrize("decay", [0.0, 0.1])
def test_rows_that_step_late_are_where_adam_on_the_whole_table_is(decay):
    ours, exact = stepped(weights(), decay), weights(torch.float64)
    plain = torch.optim.AdamW(exact.values(), lr=0.01, weight_decay=decay)
    for step in range(1, STEPS + 1):
        exact["table"].grad, exact["other"].grad = gradients(exact, step)
        plain.step()
    for name in ours:
        tolerance = rounding(OPERATIONS, exact[name].abs().max().item())
        torch.testing.assert_close(ours[name].double(), exact[name], rtol=0, atol=tolerance)
    moved = (exact["table"] - weights(torch.float64)["table"]).abs().amax(-1)
    assert (moved[:, : ROWS - 5] > 1e-3).all()


def test_when_rows_catch_up_changes_no_bit():
    often = stepped(weights(), 0.1, finish_at=range(STEPS))
    late = stepped(weights(), 0.1)
    assert all(torch.equal(often[name], late[name]) for name in often)


@pytest.mark.parametrize("rows", [torch.full((SEEDS, 3), ROWS), torch.full((SEEDS, 3), -1), torch.zeros(1, 3)])
@pytest.mark.usefixtures("unchecked")
def test_rows_that_are_not_there_are_refused(rows):
    optimiser = Adam(weights(), ("table",), 0.01, 0.0, 5)
    with pytest.raises(IndexError, match=rf"of {SEEDS} tables of {ROWS} rows"):
        optimiser.prepare({"table": rows})


def test_gradients_are_zero_after_a_step():
    named = weights()
    stepped(named, 0.0, steps=3)
    assert (named["table"].grad == 0).all()


def test_a_table_is_stepped_as_a_whole_where_nothing_is_compiled(monkeypatch):
    by_rows = stepped(weights(), 0.1)
    monkeypatch.setattr(adam, "_library", lambda width: None)
    whole = stepped(weights(), 0.1)
    for name in whole:
        tolerance = rounding(OPERATIONS, whole[name].abs().max().item())
        torch.testing.assert_close(whole[name], by_rows[name], rtol=0, atol=tolerance)
    assert not all(torch.equal(whole[name], by_rows[name]) for name in whole)
