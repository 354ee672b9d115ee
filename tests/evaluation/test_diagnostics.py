import numpy as np
import pytest
import torch
from rounding import rounding
from scipy import stats
from small import in_arrays

from vanishing_variance.core.seeding import stream
from vanishing_variance.evaluation.config import Diagnostics
from vanishing_variance.evaluation.diagnostics import diagnose
from vanishing_variance.inference.models import Models
from vanishing_variance.inference.sequences import ITEMS_DRAWN
from vanishing_variance.reference import Reference

LENGTHS = [4, 32]
# The longest chain: six products of matrices of width 32 from a query to its logits; a softmax and a mean of 32 items.
OPERATIONS = 8 * 32


def look(plan, weights, sequences=50):
    how = Diagnostics(sequences=sequences, heatmap_sequences=7)
    return diagnose(Models.of(plan.variant, in_arrays(weights)), plan.variant.task_name, LENGTHS, how, 0)


def test_diagnostics_are_those_of_the_outputs_computed_plainly(briefly_trained, monkeypatch):
    plan, weights = briefly_trained
    variant = plan.variant
    one = {name: tensor[:1].float() for name, tensor in weights.items()}
    inside = look(plan, one)
    model = Reference(variant.task, variant.network().norm, variant.model, 16)
    model.load(one, 0)
    model.double()
    seen = {}
    norm = variant.network().norm

    def watched(outputs, parameters, epsilon):
        seen["before"], seen["after"] = outputs, norm.normalise(outputs, parameters, epsilon)
        return seen["after"]

    model.norm = type("Norm", (), {"normalise": staticmethod(watched)})
    softmax = torch.softmax
    monkeypatch.setattr(torch, "softmax", lambda x, dim: seen.setdefault("weights", softmax(x, dim)))
    drawn = variant.task.sample(stream(0, "diagnostics", variant.task_name, 32), ITEMS_DRAWN // 32, 32)
    batch = {name: torch.from_numpy(array[:50]) for name, array in drawn.items()}
    model({name: array.double() if array.is_floating_point() else array for name, array in batch.items()})
    moments = inside["moments"].set_index(["length", "where"])
    before, after = (seen[where].detach().numpy() for where in ("before", "after"))
    off = rounding(OPERATIONS, np.abs(before).max())
    for where, values, tolerance in (("before", before, off), ("after", after, off / before.std(axis=1).min())):
        row = moments.loc[(32, where)]
        assert row["mean"] == pytest.approx(values.mean(), abs=tolerance)
        assert row["variance"] == pytest.approx(values.var(axis=1).mean(), rel=1e-4)
        assert row["variance_se"] == pytest.approx(stats.sem(values.var(axis=1)), rel=1e-3)
        shown = inside["features"].query("length == 32 and where == @where")
        wide = shown["value"].to_numpy().reshape(50, 5)
        np.testing.assert_allclose(wide, values[:, :5], rtol=0, atol=tolerance)
        assert shown["feature"].tolist() == [0, 1, 2, 3, 4] * 50
    heat = inside["attention"].query("length == 32").pivot(index="sequence", columns="rank", values="weight")
    expected = -np.sort(-seen["weights"][:7].squeeze(1).detach().numpy(), axis=1)[:, :16]
    np.testing.assert_allclose(heat.to_numpy(), expected, rtol=0, atol=rounding(OPERATIONS, expected.max()))
    short = inside["attention"].query("length == 4")
    assert short["rank"].max() == 4


def test_more_diagnostic_sequences_begin_with_the_fewer(briefly_trained):
    plan, weights = briefly_trained
    one = {name: tensor[:1].float() for name, tensor in weights.items()}
    more, fewer = look(plan, one, sequences=80), look(plan, one)
    for length in LENGTHS:
        few, many = (each["features"].query("where == 'before'").groupby("length") for each in (fewer, more))
        values, first = few.get_group(length)["value"], many.get_group(length)["value"][:250]
        np.testing.assert_allclose(values, first, rtol=0, atol=rounding(OPERATIONS, np.abs(first).max()))
