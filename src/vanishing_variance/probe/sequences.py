"""The sequences of Figure 1: random tokens, and sentences of an English text (Section 1).

Tokens stand as they are: no beginning-of-sequence, [CLS] or [SEP] is added to any of them.
S sequences, N tokens, V tokens in the vocabulary, T tokens in the text, P of which begin a sentence.
"""

import hashlib
import os
import re
from dataclasses import dataclass
from pathlib import Path
from pydoc_data.topics import topics

import numpy as np
from jaxtyping import Integer
from transformers import PreTrainedTokenizerBase

from vanishing_variance.harness.errors import InputError, shown
from vanishing_variance.harness.sections import PATH

# The reference topics that every Python carries.
EMBEDDED = "pydoc_data.topics"
# A paragraph that begins as a sentence does, at the margin, and ends as one: no heading, code or signature.
_PROSE = re.compile(r"[A-Z\"](?!.*^ ).* .*[.!?]", re.DOTALL | re.MULTILINE)
# A mark that ends a sentence, and quotes or brackets that close with it; what follows begins in upper case.
_BREAK = re.compile(r"[.!?][\"')\]]*\s+(?=[\"'(\[]*[A-Z])")


def read_prose(source: str) -> tuple[str, str]:
    """Return the text of a UTF-8 file, or EMBEDDED, and a short SHA-256 of it.

    Topics differ between versions of Python, files are edited. Raises InputError when it cannot be read.
    """
    try:
        path = Path(os.path.expanduser(source))
        text = _topics() if source == EMBEDDED else path.read_text(encoding="utf-8")
    except (OSError, ValueError) as problem:
        why = problem.strerror if isinstance(problem, OSError) else "not UTF-8"
        raise InputError(f"{PATH}: probe.text is {shown(source)}: {why}; must be a UTF-8 file or {EMBEDDED}") from None
    return text, hashlib.sha256(text.encode()).hexdigest()[:12]


def _topics() -> str:
    paragraphs = []
    for name in sorted(topics):
        paragraphs += re.split(r"\n\s*\n", topics[name])
    return "\n\n".join(filter(_PROSE.fullmatch, paragraphs))


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
    starts = [0] + [mark.end() for mark in _BREAK.finditer(text)]
    encoded = tokenizer(text, add_special_tokens=False, truncation=False, return_offsets_mapping=True)
    tokens = np.array(encoded["input_ids"], dtype=np.int64)
    # The first token that ends behind a sentence's start: its own start may be the space before the word.
    ends = [end for _, end in encoded["offset_mapping"]]
    beginnings = np.unique(np.searchsorted(ends, starts, side="right"))
    return Corpus(name, tokens, beginnings[beginnings < len(ends)])


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
