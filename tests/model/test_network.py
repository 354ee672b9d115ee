from dataclasses import replace

import pytest
import torch
from small import make_model, make_plan

from vanishing_variance.core import registry
from vanishing_variance.core.errors import InputError
from vanishing_variance.model.initialisation import draw
from vanishing_variance.model.kernels import attend as kernel
from vanishing_variance.reference import Reference
from vanishing_variance.training.batches import batches
from vanishing_variance.training.loop import losses
from vanishing_variance.training.sparse import touched_rows

SEEDS = [3, 0, 11]


def drawn(plan, seeds, dtype=torch.float64):
    how = plan.variant.initial(plan.task_training)
    return {name: tensor.to(dtype) for name, tensor in draw(how, plan.root_seed, plan.variant.task_name, seeds).items()}


def in_double(batch):
    return {name: array.double() if array.is_floating_point() else array for name, array in batch.items()}


LEFT_OUT = {"scaled_logits": False, "output_projection": False}


@pytest.mark.parametrize("changes", [{}, {"gelu": "tanh", "attention_biases": True}, LEFT_OUT])
def test_loss_and_gradients_equal_those_of_a_plain_module_for_each_seed(task_name, norm_name, changes):
    assert_as_plain(make_plan(task_name, norm_name, model=make_model(**changes)))


@pytest.mark.parametrize("changes", [{}, {"attention_biases": True}, LEFT_OUT])
@pytest.mark.parametrize("projection", ["mlp", "direct", "qk_norm", "tied_qk_norm"])
@pytest.mark.parametrize("attention", registry.attention_names())
def test_so_they_do_with_every_attention_map_and_projection(task_name, attention, projection, changes):
    plan = make_plan(task_name, "ln", model=make_model(projection=projection, **changes))
    plan = replace(plan, variant=replace(plan.variant, attention_name=attention))
    if attention == "differential" and projection.endswith("qk_norm"):
        with pytest.raises(InputError, match=f"'{projection}'; must be one of mlp, direct where .* 2 queries"):
            plan.variant.network()
    else:
        assert_as_plain(plan)


def assert_as_plain(plan):
    network, weights = plan.variant.network(), drawn(plan, SEEDS)
    for tensor in weights.values():
        tensor.requires_grad_()
    batch, labels = next(batches(plan, SEEDS))
    batch = in_double(batch)
    ours = losses(network, weights, batch, labels).mean(1)
    ours.sum().backward()
    for place in range(len(SEEDS)):
        plain = Reference(plan.variant.task, network.norm, plan.variant.model, 16, network.attention).double()
        plain.load({name: tensor.detach() for name, tensor in weights.items()}, place)
        loss = torch.nn.functional.cross_entropy(plain({name: a[place] for name, a in batch.items()}), labels[place])
        loss.backward()
        torch.testing.assert_close(ours[place], loss, rtol=0, atol=1e-12)
        gradients = {name: tensor.grad[place] for name, tensor in weights.items()}
        assert len(list(plain.parameters())) == len(gradients)
        for name, parameter in plain.named_parameters():
            ours_name = "attention.scale" if name == "scale" else name.replace("_parameters.", ".")
            if ours_name.startswith(("attention.", "embedding.")):
                ours_name = ours_name.removesuffix(".weight")  # W_K has no bias: softmax would not see it
            torch.testing.assert_close(gradients[ours_name], parameter.grad, rtol=0, atol=1e-10, msg=name)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("gelu", ["exact", "tanh"])
def test_single_precision_is_within_1e_5_of_the_plain_module(task_name, norm_name, gelu, compiled, monkeypatch):
    if not compiled:
        monkeypatch.setattr(kernel, "usable", lambda *_: False)
    plan = make_plan(task_name, norm_name, model=make_model(gelu=gelu))
    network, weights = plan.variant.network(), drawn(plan, SEEDS, torch.float32)
    batch, labels = next(batches(plan, SEEDS))
    ours = losses(network, weights, batch, labels).mean(1)
    for place in range(len(SEEDS)):
        plain = Reference(plan.variant.task, network.norm, plan.variant.model, 16)
        plain.load(weights, place)
        loss = torch.nn.functional.cross_entropy(plain({name: a[place] for name, a in batch.items()}), labels[place])
        torch.testing.assert_close(ours[place], loss, rtol=0, atol=1e-5)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("projection", ["mlp", "direct", "qk_norm"])
@pytest.mark.parametrize("attention", ["power", "sigmoid", "entmax15", "differential"])
def test_so_it_is_with_other_maps_and_projections(task_name, attention, projection, compiled, monkeypatch):
    if not compiled:
        monkeypatch.setattr(kernel, "usable", lambda *_: False)
    if attention == "differential" and projection == "qk_norm":
        return
    plan = make_plan(task_name, "ln", model=make_model(projection=projection))
    network = replace(plan.variant, attention_name=attention).network()
    plan = replace(plan, variant=replace(plan.variant, attention_name=attention))
    batch, labels = next(batches(plan, SEEDS))
    found = [
        losses(network, drawn(plan, SEEDS, dtype), batch if dtype == torch.float32 else in_double(batch), labels)
        for dtype in (torch.float32, torch.float64)
    ]
    torch.testing.assert_close(found[0].double(), found[1], rtol=0, atol=1e-4)


def test_looking_up_tables_equals_computing_every_item(task_name):
    plan = make_plan(task_name)
    network, weights = plan.variant.network(), drawn(plan, SEEDS)
    batch, _ = next(batches(plan, SEEDS))
    items, folded_query = network.encode(weights, in_double(batch))
    looked_up, same_direction = network.encode(weights, in_double(batch), network.tables(weights))
    torch.testing.assert_close(looked_up.dense(), items.dense(), rtol=0, atol=1e-12)
    torch.testing.assert_close(same_direction, folded_query, rtol=0, atol=1e-12)


def test_the_rows_that_a_batch_reads_serve_as_well_as_the_table():
    plan = make_plan("dictionary")
    network, weights = plan.variant.network(), drawn(plan, SEEDS)
    batch, _ = next(batches(plan, SEEDS))
    part, rows = touched_rows(batch, network.embedding.SPARSE_TABLES, {"embedding.key": 256})
    table = weights["embedding.key"]
    read = torch.stack([of[rows["embedding.key"][seed]] for seed, of in enumerate(table)])
    assert read.shape[1] < table.shape[1]
    expected = network(weights, in_double(batch))
    torch.testing.assert_close(
        network({**weights, "embedding.key": read}, in_double(part)), expected, rtol=0, atol=1e-12
    )


def test_sequences_shared_by_all_seeds_are_those_sequences_for_each(task_name):
    plan = make_plan(task_name)
    network, weights = plan.variant.network(), drawn(plan, SEEDS)
    batch, _ = next(batches(plan, SEEDS[:1]))
    repeated = {name: array.expand(len(SEEDS), *array.shape[1:]) for name, array in in_double(batch).items()}
    torch.testing.assert_close(network(weights, in_double(batch)), network(weights, repeated), rtol=0, atol=1e-12)


def test_the_order_of_the_items_does_not_matter(task_name):
    plan = make_plan(task_name)
    network, weights = plan.variant.network(), drawn(plan, SEEDS)
    batch = in_double(next(batches(plan, SEEDS))[0])
    flipped = {name: array.flip(2) if array.dim() == 3 else array for name, array in batch.items()}
    torch.testing.assert_close(network(weights, batch), network(weights, flipped), rtol=0, atol=1e-12)


def test_without_a_scale_logits_are_larger_by_the_root_of_the_width(task_name):
    made = []
    for scaled in (True, False):
        plan = make_plan(task_name, model=make_model(scaled_logits=scaled))
        network, weights = plan.variant.network(), drawn(plan, SEEDS)
        made.append(network.logits(*network.encode(weights, in_double(next(batches(plan, SEEDS))[0]))))
    torch.testing.assert_close(made[1], made[0] * 32**0.5, rtol=0, atol=1e-12)


def test_without_an_output_projection_the_head_reads_the_normalised_outputs(task_name):
    plan = make_plan(task_name, model=make_model(output_projection=False))
    weights = drawn(plan, SEEDS)
    assert "attention.output" not in weights
    o = torch.randn(len(SEEDS), 5, 32, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    with_eye = {**weights, "attention.output": torch.eye(32, dtype=torch.float64).expand(len(SEEDS), -1, -1)}
    expected = make_plan(task_name).variant.network().read_out(with_eye, o)
    torch.testing.assert_close(plan.variant.network().read_out(weights, o), expected, rtol=0, atol=1e-12)


def test_std_represents_every_function_of_ln(task_name):
    """gamma folds into W_O, and beta into the bias of the layer after it."""
    with_ln, with_std = make_plan(task_name, "ln"), make_plan(task_name, "std")
    weights = drawn(with_ln, SEEDS)
    generator = torch.Generator().manual_seed(0)
    for name in ("norm.scale", "norm.shift"):
        weights[name] = torch.randn(weights[name].shape, generator=generator, dtype=torch.float64)
    batch = in_double(next(batches(with_ln, SEEDS))[0])
    folded = {name: tensor for name, tensor in weights.items() if not name.startswith("norm.")}
    folded["attention.output"] = weights["attention.output"] * weights["norm.scale"].unsqueeze(1)
    shift = weights["head.0.weight"] @ weights["attention.output"] @ weights["norm.shift"].unsqueeze(-1)
    folded["head.0.bias"] = weights["head.0.bias"] + shift.squeeze(-1)
    of_ln = with_ln.variant.network()(weights, batch)
    torch.testing.assert_close(with_std.variant.network()(folded, batch), of_ln, rtol=0, atol=1e-10)
    unfolded = with_std.variant.network()(weights, batch)
    assert (unfolded - of_ln).abs().max() > 0.1
