import numpy as np
import pytest

from vanishing_variance.core.errors import InputError
from vanishing_variance.probe.config import Probe
from vanishing_variance.probe.deviations import Subject, draw, measure
from vanishing_variance.probe.outputs import last_outputs
from vanishing_variance.probe.sequences import tokenised, vocabulary
from vanishing_variance.statistics.power_law import power_law
from vanishing_variance.study.strategies import FIXED_LAST

TEXT = " ".join(f"W{n % 50} w{n * 7 % 50} w{n * 11 % 50}." for n in range(200)).lower().replace(". w", ". W")


def settings(**changed):
    given = {"lengths": [4, 8, 32], "sequences": 6, "layers": [1, 0], "heads": [3], "components": 2}
    return Probe(model="tiny", revision=None, text="words", **(given | changed))


def subject(loaded, kind="llama", **changed):
    model, family, tokenizer = loaded[kind]
    given = {"layers": [1, 0], "heads": [3], "vocabulary": vocabulary(tokenizer, 64)}
    return Subject(model, family, corpus=tokenised(tokenizer, "words", TEXT), **(given | changed))


def spread(outputs):
    """The geometric mean of the standard deviations over sequences."""
    return np.exp(np.log(outputs.std(axis=0, ddof=1, dtype=float)).mean())


def test_every_row_is_its_own_layer_head_component_strategy_and_length(loaded):
    frame = measure(subject(loaded), settings(), 0)
    assert len(frame) == 4 * 3 * 2 * 1 * 2
    assert (frame["n"] == 6).all()
    model, family, _ = loaded["llama"]
    tokens = draw(subject(loaded), "random_no_pe", 6, 8, 0)
    expected = last_outputs(model, family, tokens, [0, 1], False).astype(float).std(axis=0, ddof=1)
    rows = frame.query("strategy == 'random_no_pe' and length == 8").set_index(["layer", "head", "component"])
    for layer in (0, 1):
        for component in (0, 1):
            found = rows.loc[(layer, 3, component), "deviation"]
            assert found == pytest.approx(expected[layer, 3, component], rel=1e-5)


def test_a_fixed_last_token_is_the_same_in_all_sequences_of_all_lengths_and_the_others_are_random(loaded):
    given = subject(loaded)
    drawn = {length: draw(given, FIXED_LAST, 50, length, 0) for length in (2, 8, 32)}
    [last] = np.unique([tokens[:, -1] for tokens in drawn.values()])
    assert all(tokens.shape == (50, length) for length, tokens in drawn.items())
    assert min(len(np.unique(column)) for tokens in drawn.values() for column in tokens[:, :-1].T) > 20
    assert len({draw(given, FIXED_LAST, 2, 8, root)[0, -1] for root in range(9)}) > 4
    for name in ("random_no_pe", "random_pe"):
        assert len(np.unique(draw(given, name, 50, 8, 0)[:, -1])) > 20
    model, family, _ = loaded["llama"]
    outputs = last_outputs(model, family, draw(given, FIXED_LAST, 6, 8, 0), [0], False)
    expected = outputs.astype(float).std(axis=0, ddof=1)[0, 3, 0]
    rows = measure(given, settings(), 0).query("strategy == @FIXED_LAST and length == 8 and layer == 0")
    assert rows.set_index("component").loc[0, "deviation"] == pytest.approx(expected, rel=1e-5)
    assert last in given.vocabulary


def test_random_tokens_are_uniform_over_the_whole_vocabulary(loaded):
    given = subject(loaded)
    counts = np.bincount(draw(given, "random_pe", 400, 160, 0).ravel(), minlength=64)
    assert ((counts - 1000) ** 2 / 1000).sum() < 103.4  # the chi-squared of 63 degrees of freedom, at 0.1%


def test_the_same_parameters_give_the_same_bytes_and_another_seed_others(loaded):
    first, again, other = (measure(subject(loaded), settings(), root).to_csv() for root in (0, 0, 1))
    assert first == again
    assert first != other
    fewer = measure(subject(loaded), settings(lengths=[8, 32]), 0).to_csv(index=False).splitlines()
    whole = measure(subject(loaded), settings(), 0).to_csv(index=False).splitlines()
    assert set(fewer) < set(whole)


@pytest.mark.parametrize("kind", ["llama", "bert"])
def test_independent_tokens_under_even_attention_have_the_papers_exponent(loaded, kind):
    """Proposition 1 with weights that are all the same: a mean of N independent values."""
    model, family, tokenizer = loaded[kind]
    attention = model.layers[0].self_attn if kind == "llama" else model.encoder.layer[0].attention.self
    queries = attention.q_proj if kind == "llama" else attention.query
    kept = {name: weight.clone() for name, weight in queries.state_dict().items()}
    for weight in queries.state_dict().values():
        weight.zero_()
    lengths, values = [4, 16, 64, 128], []
    for length in lengths:
        tokens = np.random.default_rng(length).choice(vocabulary(tokenizer, 64), (400, length))
        values.append(spread(last_outputs(model, family, tokens, [0], False)))
    queries.load_state_dict(kept)
    assert power_law(np.array(lengths), np.array(values)).exponent == pytest.approx(-0.5, abs=0.03)


def test_independent_tokens_before_a_fixed_last_one_come_near_it_in_the_packaged_model(loaded):
    """Proposition 1 is about one query; a last token that varies keeps a spread that does not vanish."""
    model, family, tokenizer = loaded["packaged"]
    lengths, values = [16, 48, 144], []
    for length in lengths:
        tokens = np.random.default_rng(length).choice(vocabulary(tokenizer, 30522), (60, length))
        tokens[:, -1] = 2003
        values.append(spread(last_outputs(model, family, tokens, [0], False)))
    assert power_law(np.array(lengths), np.array(values)).exponent == pytest.approx(-0.5, abs=0.1)


def test_an_output_that_does_not_vary_is_refused_in_one_line(loaded):
    same = subject(loaded, vocabulary=np.array([7]))
    with pytest.raises(InputError) as refused:
        measure(same, settings(), 0)
    said = "params.yaml: probe.model is tiny; O does not vary there (layer 1, head 3, component 0: 0.0)"
    assert str(refused.value) == said
