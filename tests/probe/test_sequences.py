import numpy as np
import pytest
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from vanishing_variance.core.errors import InputError
from vanishing_variance.probe.sequences import sentences, tokenised, vocabulary

TEXT = 'Cats sleep.  Dogs\nbark! "Do birds sing?" They do, e.g. at dawn. It is 3.14 of the day.'
FIRST = ["Cats", "Dogs", '"Do', "They", "It"]


def bytes_tokenizer():
    """As Llama's: what separates words belongs to the next one."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    tokenizer = Tokenizer(models.BPE({letter: place for place, letter in enumerate(alphabet)}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return PreTrainedTokenizerFast(tokenizer_object=tokenizer)


def test_sequences_begin_where_sentences_do(loaded):
    for tokenizer in (loaded["packaged"][2], bytes_tokenizer()):
        corpus = tokenised(tokenizer, "text", TEXT)
        assert len(corpus.beginnings) == len(FIRST)
        for place, word in zip(corpus.beginnings, FIRST, strict=True):
            rest = tokenizer.decode(corpus.tokens[place:]).replace(" ", "").lower()
            assert rest.startswith(word.lower())


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


def test_the_vocabulary_is_all_tokens_that_have_an_embedding(loaded):
    for embeddings in (64, 60):
        assert vocabulary(loaded["llama"][2], embeddings).tolist() == list(range(embeddings))
