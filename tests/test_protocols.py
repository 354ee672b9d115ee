import numpy as np
import pandas as pd
import pytest
import torch
from scipy import stats
from torch.nn.functional import gelu

from benchmarks import protocols, protocols_figure
from benchmarks.protocols import BASE, PROTOCOLS, Candidate, Protocol, coupled, markdown, protocol_plan
from vanishing_variance.core.registry import load_task
from vanishing_variance.core.seeding import stream
from vanishing_variance.model.config import Model
from vanishing_variance.model.initialisation import draw
from vanishing_variance.training.config import Training

SHAPES = {
    "base",
    "logits not scaled",
    "GELU after both layers",
    "one layer",
    "no W_O",
    "width 128, no W_O, decay 0.001, logits not scaled, biases",
    "normaliser after W_O",
}


def linear(weights, name, x):
    return x @ weights[f"{name}.weight"].T + weights.get(f"{name}.bias", 0)


def plainly(weights, batch, norm, how: Protocol):
    """One seed's class logits on the dictionary, every item's key and value formed, as the protocol says."""
    keys, values, said = weights["embedding.key"], weights["embedding.value"], {**BASE, **how.parameters}
    x = torch.cat((keys[batch["key"].long()], values[batch["value"].long()]), -1)
    q = keys[batch["query"].long()]
    for name in ("item", "query"):
        y = gelu(linear(weights, f"{name}.0", x if name == "item" else q))
        if how.layers == 2:
            y = linear(weights, f"{name}.2", y)
            y = gelu(y) if how.deep else y
        x, q = (y, q) if name == "item" else (x, y)
    query, key, value = (
        of @ weights[f"attention.{name}"].T + weights.get(f"attention.{name}.bias", 0)
        for name, of in zip(("query", "key", "value"), (q, x, x), strict=True)
    )
    logits = (key @ query.unsqueeze(-1)).squeeze(-1) * (key.shape[-1] ** -0.5 if said["scaled_logits"] else 1)
    o = (torch.softmax(logits, -1).unsqueeze(1) @ value).squeeze(1)
    project = (lambda of: of @ weights["attention.output"].T) if said["output_projection"] else (lambda of: of)
    o = project(o) if how.late else o
    o = norm.normalise(o, {name: weights[f"norm.{name}"] for name in norm.LEARNABLE}, 1e-5)
    return linear(weights, "head.2", gelu(linear(weights, "head.0", o if how.late else project(o))))


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_the_network_of_a_protocol_is_what_it_says(name):
    plan = protocol_plan("dictionary", "ln", PROTOCOLS[name])
    variant = plan.variant
    assert isinstance(variant, Candidate)
    weights = draw(variant.initial(plan.task_training), 0, "dictionary", [0, 1])
    drawn = [variant.task.sample(stream(0, "here", seed), 5, 7) for seed in (0, 1)]
    batch = {key: torch.from_numpy(np.stack([of[key] for of in drawn])) for key in drawn[0]}
    network = variant.network()
    found = network(weights, batch)
    for seed in (0, 1):
        one = {key: of[seed] for key, of in weights.items()}
        expected = plainly(one, {key: of[seed] for key, of in batch.items()}, network.norm, PROTOCOLS[name])
        torch.testing.assert_close(found[seed], expected, rtol=1e-4, atol=1e-5)


def test_a_protocol_says_all_of_model_and_training_whatever_params_yaml_says():
    sections = (Model, Training, load_task("dictionary").TRAINING)
    assert set(BASE) == {name for of in sections for name in of.model_fields} - {"steps", "seeds_per_process"}
    assert all(protocol.parameters.keys() <= BASE.keys() for protocol in PROTOCOLS.values())


def test_a_coupled_decay_is_that_of_torchs_adam():
    start = torch.linspace(-1, 1, 12).reshape(1, 4, 3)
    ours, theirs = start.clone().requires_grad_(), start.clone().requires_grad_()
    found = coupled({"table": ours}, ["table"], torch.full((5,), 0.1, dtype=torch.float64), 0.5)
    reference = torch.optim.Adam([theirs], lr=0.1, weight_decay=0.5)
    for step in range(5):
        rows = torch.tensor([[step % 4, 3]])
        read = found.read({"table": rows})["table"]
        for tensor in (read, theirs[0, rows[0]]):
            (tensor**3).sum().backward()
        found.step()
        reference.step()
        reference.zero_grad()
    torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-6)


def test_a_protocol_is_tabled_with_its_distance_and_gain():
    rows = [
        ("dictionary", "some", norm, seed, temperature, length, accuracy + 0.01 * seed * (1 + (norm == "ln")), 0.1, 0.2)
        for norm, accuracy in (("none", 0.6), ("ln", 0.5))
        for seed in range(4)
        for temperature in ("plain", "adaptive")
        for length in protocols.LENGTHS
    ]
    text = markdown(pd.DataFrame(rows, columns=protocols.COLUMNS))
    gains, accuracies = (
        [cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("| some |")
    )
    assert gains[1] == "4"
    assert gains[4].startswith("-8.5 [")
    assert gains[8:10] == ["+0.0", "+0.0"]
    bounds = [stats.t.interval(0.95, 3, 60 + k * 1.5, k * stats.sem([0, 1, 2, 3])) for k in (1, 2)]
    none, ln = (f"[{low - off:.1f}, {high - off:.1f}]" for (low, high), off in zip(bounds, (0, 10), strict=True))
    assert accuracies[1:] == [f"61.5 {none}", f"53.0 {ln}"] * 4
    assert "| paper | 100 |  |  | +2.95 |" in text
    assert "| paper | 99.3 | 99.4 |" in text
    assert f"\nOf the list, not run: {'; '.join(PROTOCOLS)}.\n" in text
    ran = pd.DataFrame(rows, columns=protocols.COLUMNS).assign(protocol="base")
    assert "not run: cosine; std 1;" in markdown(ran)


def test_clear_gains_are_counted_over_all_protocols_and_over_those_level_with_the_papers_baseline():
    rows = [
        ("dictionary", name, norm, seed, temperature, length, base + (norm == "ln") * gain + 0.001 * seed, 0.1, 0.2)
        for name, base, gain in (("up", 0.99, 0.005), ("down", 0.99, -0.02), ("behind", 0.98, 0.01), ("even", 0.99, 0))
        for norm in ("none", "ln")
        for seed in range(3)
        for temperature in ("plain", "adaptive")
        for length in protocols.LENGTHS
    ]
    text = markdown(pd.DataFrame(rows, columns=protocols.COLUMNS))
    assert "is above 0) in 2 of 4 protocols, clearly negative in 1. 3 have a baseline at most 0.5 points" in text
    assert "below the paper's at 2^4; of these it is clearly positive in 1, clearly negative in 1." in text


def test_gains_are_set_beside_the_losses_of_training():
    """Protocols whose gain follows the difference of the losses but for one, `odd`, whose baseline is behind."""
    gains = {"worst": (0.99, -0.02, -0.04), "bad": (0.99, -0.01, 0.01), "good": (0.99, 0.005, 0.02)}
    rows = [
        ("dictionary", name, norm, seed, temperature, length, base + (norm == "ln") * gain + 0.001 * seed, loss, 0.2)
        for name, (base, gain, lower) in (gains | {"odd": (0.9, 0.01, -0.03)}).items()
        for norm, loss in (("none", 0.1), ("ln", 0.1 - lower))
        for seed in range(3)
        for temperature in ("plain", "adaptive")
        for length in protocols.LENGTHS
    ]
    text = markdown(pd.DataFrame(rows, columns=protocols.COLUMNS))
    assert "Spearman's correlation is 0.40 (p = 0.6) over all, 1.00 (p = 0) over those 3." in text
    assert "the first has the larger difference in 75%: it is -0.0300 nats or more in the 2 with, 0.0100 or" in text
    few = pd.DataFrame({"lower": [0.001, -0.002, 0.02, 0.03], "gain": [-1.0, -3.0, 4.0, 5.0], "near": True})
    assert protocols._by_loss(few).endswith(
        " Where the losses are within 0.005 nats of each other, the gain is -2.0 [-14.7, +10.7] over 2 protocols."
    )
    alone = pd.DataFrame(rows, columns=protocols.COLUMNS).query("protocol == 'good'")
    assert "Spearman" not in markdown(alone)


def test_what_was_foretold_is_counted():
    foretold = protocols.FORETOLD[:4]
    found = pd.DataFrame(
        [
            *((foretold[0], 4, 2.0, 1.0, 3.0, 0.02, True), (foretold[1], 4, -2.0, -3.0, -1.0, 0.0, True)),
            *((foretold[2], 4, 0.5, -1.0, 2.0, -0.01, True), (foretold[3], 4, -0.5, -2.0, 1.0, 0.009, False)),
            ("base", 8, 9.0, 8.0, 10.0, -1.0, True),
        ],
        columns=["protocol", "n", "gain", "low", "high", "lower", "near"],
    )
    said = protocols._foretold("dictionary", found)
    assert said.startswith("Before 4 of them ran it was foretold that")
    assert f"so it is in 3 of 4, and in 2 of the 2 whose interval is on one side of 0; not in {foretold[2]}" in said
    assert said.endswith("Their more frequent sign alone would be right in 2. Over all 5 it is so in 3.")
    assert protocols._foretold("dictionary", found[found["protocol"] == "base"]) == ""
    assert protocols._foretold("argmax", found) == ""


def test_the_figure_leaves_out_what_hardly_trains_and_says_so():
    rows = [
        ("base", 8, 2.0, 1.0, 3.0, 0.02, True),
        (protocols.FORETOLD[0], 4, -2.0, -3.0, -1.0, 0.0, False),
        ("L2 0.001", 2, 1.0, 0.0, 2.0, 0.6, False),
    ]
    columns = ["protocol", "n", "gain", "low", "high", "lower", "near"]
    drawing = protocols_figure.draw(pd.DataFrame(rows, columns=columns))
    assert "Dictionary, 2 protocols" in drawing.caption
    assert "over 4 to 8 seeds each" in drawing.caption
    assert "1 that hardly train are left out" in drawing.caption
    [axes] = drawing.figure.axes
    assert [text.get_text() for text in axes.get_legend().get_texts()] == [
        "before the rule",
        "foretold by it, baseline behind",
    ]


def test_embeddings_make_no_other_protocol_of_a_task_without_them():
    found = protocols._unrun("argmax", ["base", "width 128, logits not scaled"])
    assert found[:2] == ["cosine", "rate 3e-4"]
    assert not {"std 1", "std 1, cosine", "logits not scaled", "width 128"} & set(found)
    assert "width 128" in protocols._unrun("dictionary", ["base"])
