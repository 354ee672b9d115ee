import numpy as np
import pytest

from vanishing_variance.harness.errors import InputError
from vanishing_variance.probe.sequences import sentences, tokenised


def test_each_sequence_runs_on_from_a_sentence_of_its_own_and_no_token_is_added(loaded):
    tokenizer = loaded["packaged"][2]
    corpus = tokenised(tokenizer, "text", " ".join(f"Word {n} is here." for n in range(300)))
    assert not set(corpus.tokens) & set(tokenizer.all_special_ids)
    drawn = sentences(np.random.default_rng(0), corpus, 50, 40)
    whole = corpus.tokens.tolist()
    starts = [next(b for b in corpus.beginnings if whole[b : b + 40] == row.tolist()) for row in drawn]
    assert len(set(starts)) == 50


def test_a_text_that_is_too_short_is_refused_in_one_line(loaded):
    corpus = tokenised(loaded["packaged"][2], "big.txt", " ".join(["It is so."] * 20))
    assert len(corpus.tokens) == 80
    assert sentences(np.random.default_rng(0), corpus, 11, 40).shape == (11, 40)
    said = r"^params.yaml: probe.text is big.txt, too short: 11 of its sentences have 40 tokens .*; must be at least 12"
    with pytest.raises(InputError, match=said):
        sentences(np.random.default_rng(0), corpus, 12, 40)
    empty = tokenised(loaded["packaged"][2], "empty", "")
    with pytest.raises(InputError, match="too short: 0 of its"):
        sentences(np.random.default_rng(0), empty, 2, 4)
