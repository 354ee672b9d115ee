import numpy as np
import pytest

from vanishing_variance.harness.errors import InputError
from vanishing_variance.probe.sequences import read_prose, sentences, tokenised


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


def test_a_text_that_is_too_short_is_refused_in_one_line(packaged):
    corpus = tokenised(packaged[1], "big.txt", " ".join(["It is so."] * 20))
    assert len(corpus.tokens) == 80
    assert sentences(np.random.default_rng(0), corpus, 11, 40).shape == (11, 40)
    said = r"^params.yaml: probe.text is big.txt, too short: 11 of its sentences have 40 tokens .*; must be at least 12"
    with pytest.raises(InputError, match=said):
        sentences(np.random.default_rng(0), corpus, 12, 40)


@pytest.mark.parametrize(("name", "said"), [("nowhere.txt", "No such file or directory"), ("latin.txt", "not UTF-8")])
def test_what_is_no_text_is_refused_in_one_line(tmp_path, monkeypatch, name, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "latin.txt").write_bytes("café".encode("latin-1"))
    with pytest.raises(InputError, match=rf"^params.yaml: probe.text is '{name}': {said}; must be a UTF-8 file"):
        read_prose(name)
