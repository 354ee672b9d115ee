"""English text: a file of the user's, or the prose of the reference topics that every Python carries."""

import hashlib
import os
import re
from pathlib import Path
from pydoc_data.topics import topics

from vanishing_variance.harness.errors import InputError, shown

EMBEDDED = "pydoc_data.topics"

# Begins as a sentence does, at the margin, and ends as one: neither a heading, nor code, nor a signature.
_PROSE = re.compile(r"[A-Z\"](?!.*^ ).* .*[.!?]", re.DOTALL | re.MULTILINE)


def read_prose(source: str) -> tuple[str, str]:
    """Return the text of a UTF-8 file, or EMBEDDED, and a short SHA-256 of it.

    Topics differ between versions of Python, files are edited. Raises InputError when it cannot be read.
    """
    try:
        text = _topics() if source == EMBEDDED else Path(os.path.expanduser(source)).read_text(encoding="utf-8")
    except (OSError, ValueError) as problem:
        why = problem.strerror if isinstance(problem, OSError) else "not UTF-8"
        raise InputError(
            f"params.yaml: probe.text is {shown(source)}: {why}; must be a UTF-8 file or {EMBEDDED}"
        ) from None
    return text, hashlib.sha256(text.encode()).hexdigest()[:12]


def _topics() -> str:
    paragraphs = (part for key in sorted(topics) for part in re.split(r"\n\s*\n", topics[key]))
    return "\n\n".join(part for part in paragraphs if _PROSE.fullmatch(part))
