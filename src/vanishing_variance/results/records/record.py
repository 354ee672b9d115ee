"""A record: the raw numbers of all its pieces, and the files that are derived from them."""

import re
from dataclasses import dataclass, field
from pathlib import Path

import pandas as pd

from vanishing_variance.harness.errors import InputError, shown
from vanishing_variance.harness.frames import read_csv
from vanishing_variance.harness.outputs import Files
from vanishing_variance.results.accuracy import COLUMNS
from vanishing_variance.results.explained import INSIDE, MODEL
from vanishing_variance.results.files import TrainingSetup, comparison, explanation
from vanishing_variance.results.records.pieces import Piece

# Of pieces.csv.
PIECES = [
    *("task", "range", "norm", "first_seed", "last_seed"),
    *("device", "cores", "revision", "minutes", "python", "torch", "numpy"),
]


@dataclass(frozen=True)
class Record:
    """The accuracies and the inside of all models of a record, and the list of its pieces."""

    accuracy: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=COLUMNS))
    mechanism: pd.DataFrame = field(default_factory=lambda: pd.DataFrame(columns=INSIDE))
    pieces: pd.DataFrame = field(default_factory=pd.DataFrame)

    def holds(self, piece: Piece, name: str) -> bool:
        """Return whether the models of a piece are in the record.

        Raises InputError, which names the piece, where some of them alone are, or with other numbers.
        """
        for ours, theirs in ((self.accuracy, piece.accuracy), (self.mechanism, piece.mechanism)):
            models = theirs[MODEL].drop_duplicates()
            recorded = ours.merge(models)
            if recorded.empty:
                return False
            if not _sorted(recorded)[theirs.columns].equals(_sorted(theirs)):
                task, range_, norm, seed = recorded[MODEL].iloc[0]
                model = f"task {task}, range {range_}, norm {norm}, seed {seed}"
                raise InputError(f"{name}: {model} is in the record already, with other numbers")
        return True

    def adding(self, piece: Piece) -> "Record":
        """Return the record with one more piece: the same whatever the order in which pieces come."""
        seeds = piece.described["seeds"]
        row = {**piece.described, **piece.described["versions"], "first_seed": seeds[0], "last_seed": seeds[-1]}
        pieces = _joined(self.pieces, pd.DataFrame([row], columns=PIECES))
        return Record(
            _sorted(_joined(self.accuracy, piece.accuracy)),
            _sorted(_joined(self.mechanism, piece.mechanism)),
            pieces.sort_values(PIECES[:4], ignore_index=True),
        )


def read_record(folder: Path) -> Record:
    """Return a record. Raises InputError where a file is missing or damaged, or where they are of different models."""
    record = Record(
        accuracy=read_csv(folder / "accuracy.csv", *COLUMNS),
        mechanism=read_csv(folder / "mechanism.csv", *INSIDE),
        pieces=read_csv(folder / "pieces.csv"),
    )
    listed = models(record.pieces)
    for name, frame in (("accuracy", record.accuracy), ("mechanism", record.mechanism)):
        if not listed.equals(_sorted(frame[MODEL].drop_duplicates())):
            raise InputError(f"{folder}/{name}.csv: is not of the models of pieces.csv; git checkout {folder}")
    return record


def models(pieces: pd.DataFrame) -> pd.DataFrame:
    """Return the models that a record's list of pieces has: task, range, norm and seed, sorted."""
    rows = pieces[PIECES[:5]].to_numpy()
    listed = [(*variant, seed) for *variant, first, last in rows for seed in range(first, last + 1)]
    return _sorted(pd.DataFrame(listed, columns=MODEL))


def record_name(name: str) -> str:
    """Return the name of a record, a folder of metrics/. Raises InputError for one that is none."""
    if not re.fullmatch(r"[a-z][a-z0-9-]{0,63}", name) or name == "tables":
        allowed = "1 to 64 characters of a-z, 0-9 and -, the first one a letter, and not tables"
        raise InputError(f"name: {shown(name)} must be {allowed}")
    return name


def derived(record: Record, norm: str, trained: TrainingSetup, paper: pd.DataFrame) -> Files:
    """Return the files of a record but its claims and figures."""
    return {
        "pieces.csv": record.pieces,
        **comparison(record.accuracy, None, paper, norm, trained),
        **explanation(record.mechanism, record.accuracy, trained),
    }


def _joined(ours: pd.DataFrame, theirs: pd.DataFrame) -> pd.DataFrame:
    return pd.concat([ours, theirs]) if len(ours) else theirs


def _sorted(frame: pd.DataFrame) -> pd.DataFrame:
    keys = [key for key in (*MODEL, "rule", "length") if key in frame]
    return frame.sort_values(keys, ignore_index=True)
