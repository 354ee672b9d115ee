from itertools import product

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

from vanishing_variance.harness.errors import InputError
from vanishing_variance.probe.config import Probe
from vanishing_variance.probe.deviations import Subject, draw, last_outputs, measure
from vanishing_variance.probe.fits import POOLED, fits, pooled
from vanishing_variance.probe.sequences import read_prose, sentences, tokenised, vocabulary
from vanishing_variance.probe.strategies import FIXED_LAST
from vanishing_variance.statistics.power_law import power_law

TEXT = " ".join(f"W{n % 50} w{n * 7 % 50} w{n * 11 % 50}." for n in range(200))
GIVEN = {"lengths": [4, 8, 32], "sequences": 6, "layers": [1, 0], "components": 2}
SETTINGS = Probe(model="tiny", revision=None, text="words", **GIVEN)
LENGTHS = np.array([16, 64, 256])


@pytest.fixture
def subject(loaded):
    decoder, tokenizer = loaded["llama"]
    return Subject(decoder, [1, 0], vocabulary(tokenizer, 64), tokenised(tokenizer, "words", TEXT))


@pytest.mark.parametrize("strategy", ["random_no_pe", FIXED_LAST])
def test_every_row_is_its_own_layer_place_feature_strategy_and_length(subject, strategy):
    """Four heads, each 12 wide."""
    frame = measure(subject, SETTINGS, 0)
    assert len(frame) == 4 * 3 * 2 * 2 * 8
    assert set(frame["n"]) == {6}
    outputs = last_outputs(subject.decoder, draw(subject, strategy, 6, 8, 0), [0, 1], False)
    for place, features in (("before", [0, 1, 12, 13, 24, 25, 36, 37]), ("after", list(range(8)))):
        expected = [outputs[place, layer].astype(float).std(axis=0, ddof=1)[features] for layer in (0, 1)]
        rows = frame.query("strategy == @strategy and place == @place and length == 8")
        found = rows.pivot(index="layer", columns="feature", values="deviation")
        assert list(found) == features
        assert_allclose(found, expected, rtol=1e-4)


def test_a_fixed_last_token_is_the_same_in_all_sequences_of_all_lengths(subject):
    short, long = (draw(subject, FIXED_LAST, 50, length, 0) for length in (2, 32))
    [last] = set(short[:, -1]) | set(long[:, -1])
    assert last in subject.vocabulary
    assert len(set(short[:, 0])) > 1
    assert len({draw(subject, FIXED_LAST, 2, 8, root)[0, -1] for root in range(9)}) > 1
    for strategy in ("random_no_pe", "random_pe"):
        assert len(set(draw(subject, strategy, 50, 8, 0)[:, -1])) > 1


def test_the_same_parameters_give_the_same_bytes_and_another_seed_others(subject):
    first, again, other = (measure(subject, SETTINGS, root).to_csv(index=False) for root in (0, 0, 1))
    assert first == again
    assert first != other


def test_an_output_that_does_not_vary_is_refused_in_one_line(subject):
    one = Subject(subject.decoder, [1, 0], np.array([7]), subject.corpus)
    said = r"^params.yaml: probe.model is tiny; the output does not vary there \(layer 1, feature 0 before W_O: 0.0\)$"
    with pytest.raises(InputError, match=said):
        measure(one, SETTINGS, 0)


def test_a_layer_has_the_law_of_the_geometric_mean():
    noisy = pd.DataFrame(list(product((1, 12), (0, 1), LENGTHS)), columns=["layer", "feature", "length"])
    noisy["deviation"] = np.random.default_rng(0).uniform(1, 2, len(noisy)) * noisy["length"] ** -0.5
    noisy = noisy.assign(strategy="random_pe", place="before")
    first, second = noisy["deviation"][:3].to_numpy(), noisy["deviation"][3:6].to_numpy()
    mean = np.sqrt(first * second)
    assert_allclose(pooled(noisy)["deviation"][:3], mean)
    law = power_law(LENGTHS, mean)
    found = fits(pooled(noisy), POOLED).loc[0, ["exponent", "low", "high"]]
    assert found.tolist() == pytest.approx([law.exponent, law.low, law.high])


def test_each_sequence_runs_on_from_a_sentence_of_its_own_and_no_token_is_added(packaged):
    _, tokenizer = packaged
    corpus = tokenised(tokenizer, "text", " ".join(f"Word {n} is here." for n in range(300)))
    assert not set(corpus.tokens) & set(tokenizer.all_special_ids)
    by_sentence = {}
    for start in corpus.beginnings:
        by_sentence[tuple(corpus.tokens[start : start + 40])] = start
    drawn = sentences(np.random.default_rng(0), corpus, 50, 40)
    starts = {by_sentence[tuple(row)] for row in drawn}
    assert len(starts) == 50


@pytest.mark.parametrize(("name", "said"), [("nowhere.txt", "No such file or directory"), ("latin.txt", "not UTF-8")])
def test_what_is_no_text_is_refused_in_one_line(tmp_path, monkeypatch, name, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "latin.txt").write_bytes("café".encode("latin-1"))
    with pytest.raises(InputError, match=rf"^params.yaml: probe.text is '{name}': {said}; must be a UTF-8 file"):
        read_prose(name)
