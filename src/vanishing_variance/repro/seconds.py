"""How long a stage is likely to take, by how long it took last: it decides what begins first, and nothing else."""

import shlex
from collections.abc import Mapping, Sequence
from statistics import fmean


def expected(lines: Mapping[str, Sequence[str]], took: Mapping[str, float]) -> dict[str, float]:
    """Seconds by stage. `took` has those of former runs by what `noted` makes of a command.

    A stage that never ran takes as long as others of its script on average; where none did, all take the same.
    """
    notes = {name: noted(own) for name, own in lines.items()}
    scripts: dict[str, list[float]] = {}
    for name, seconds in took.items():
        scripts.setdefault(_script(name), []).append(seconds)
    return {
        name: took.get(note, fmean(scripts[_script(note)]) if _script(note) in scripts else 1.0)
        for name, note in notes.items()
    }


def noted(lines: Sequence[str]) -> str:
    """The name under which a command of ours notes its time: `python -m stages.train --task argmax` is train-argmax."""
    try:
        words = shlex.split(lines[0]) if lines else []
    except ValueError:
        return ""
    if len(words) < 3 or words[1] != "-m":
        return ""
    return "-".join([words[2].rpartition(".")[2], *(word for word in words[3:] if word.isalnum())])


def _script(note: str) -> str:
    return note.partition("-")[0]
