"""The verdicts on a claim, in words (words.yaml), and errors in place of one."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vanishing_variance.harness.yaml import read_yaml
from vanishing_variance.results.paper import BEHIND

SUPPORTED, CONTRADICTED, UNDECIDED = "supported", "contradicted", "undecided"
NOT_COMPARABLE, NOT_TESTED = "not comparable", "not tested"
VERDICTS = (SUPPORTED, CONTRADICTED, UNDECIDED, NOT_COMPARABLE, NOT_TESTED)
# A claim whose sentence has other readings is contradicted as read; a criterion was set after results had been seen.
AS_READ, AFTER_RESULTS = "contradicted as read", "†"

WORDS = read_yaml(Path(__file__).with_name("words.yaml"))
# By verdict, and the mark of a late criterion.
MEANINGS: dict[str, str] = {name: words.format(behind=BEHIND) for name, words in WORDS["verdicts"].items()}


class NotTestedError(Exception):
    """A claim is not tested, or not comparable: the message says what is missing, or why."""

    def __init__(self, message: str, verdict: str = NOT_TESTED) -> None:
        super().__init__(message)
        self.verdict = verdict


def shown(claim: Mapping[str, Any]) -> str:
    """Return the verdict of a claim of claims.json in words: contradicted as read, where there are other readings."""
    return AS_READ if claim["as_read"] and claim["verdict"] == CONTRADICTED else str(claim["verdict"])
