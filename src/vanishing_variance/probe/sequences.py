"""The sequences of Figure 1: random tokens and sentences (Section 1).

Tokens stand as they are: no beginning-of-sequence, [CLS] or [SEP] is added to any of them.
S sequences, N tokens, V tokens in the vocabulary, T tokens in the text, P of which begin a sentence.
"""

import re
from dataclasses import dataclass

import numpy as np
from jaxtyping import Integer
from transformers import PreTrainedTokenizerBase

from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.sections import PATH

# A mark that ends a sentence, and quotes or brackets that close with it; what follows begins in upper case.
_BREAK = re.compile(r"[.!?][\"')\]]*\s+(?=[\"'(\[]*[A-Z])")


def vocabulary(tokenizer: PreTrainedTokenizerBase, embeddings: int) -> Integer[np.ndarray, " V"]:
    """Return the numbers of all tokens of the tokenizer, special ones too, that have one of the model's embeddings."""
    tokens = np.unique(list(tokenizer.get_vocab().values()))
    return tokens[tokens < embeddings]


@dataclass(frozen=True)
class Corpus:
    """A text as tokens, the positions of those that begin a sentence, increasing, and the text's name."""

    name: str
    tokens: Integer[np.ndarray, " T"]
    beginnings: Integer[np.ndarray, " P"]


def tokenised(tokenizer: PreTrainedTokenizerBase, name: str, text: str) -> Corpus:
    """Return the corpus of a text. All whitespace counts as one space."""
    text = " ".join(text.split())
    sentences = [0, *(found.end() for found in _BREAK.finditer(text))]
    encoded = tokenizer(text, add_special_tokens=False, truncation=False, return_offsets_mapping=True)
    # By its end, since a token's beginning may be the space before the word.
    ends = np.array([end for _, end in encoded["offset_mapping"]])
    beginnings = np.unique(np.searchsorted(ends, sentences, side="right"))
    return Corpus(name, np.array(encoded["input_ids"], dtype=np.int64), beginnings[beginnings < len(ends)])


def sentences(
    rng: np.random.Generator, corpus: Corpus, sequences: int, length: int
) -> Integer[np.ndarray, "{sequences} {length}"]:
    """Return sequences of consecutive sentences, each from a sentence drawn at random, to be cut at `length`.

    Raises InputError when fewer than S sentences of the text have N tokens from their beginning on.
    """
    possible = corpus.beginnings[corpus.beginnings + length <= len(corpus.tokens)]
    if len(possible) < sequences:
        raise InputError(
            f"{PATH}: probe.text is {corpus.name}, too short: {len(possible)} of its sentences have {length} tokens "
            f"from their beginning on; must be at least {sequences}, probe.sequences, at every one of probe.lengths"
        )
    drawn = rng.choice(possible, sequences, replace=False)
    return corpus.tokens[drawn[:, None] + np.arange(length)]
