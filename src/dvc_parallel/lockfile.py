"""dvc.lock, byte for byte as DVC leaves it, at a cost that grows with what is new and not with all that is there.

DVC parses the whole file for each stage and writes all of it anew, a second for each 10,000 lines.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dvc.utils.serialize import dumps_yaml, parse_yaml_for_update

from dvc_parallel.files import write_text

HEAD = "schema: '2.0'\nstages:\n"
# Where the text of one stage may depend on that of another: other sections, comments, YAML's anchors. It may look so
# where it is not, in a command: then all is written anew each time.
ENTANGLED = re.compile(r"^\S|(?:^|\s)#|[:-] [&*]", re.MULTILINE)


class LockFile:
    """The records of the stages of one dvc.yaml."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._text: str | None = None
        self._document: Any = {}
        self._parts: dict[str, str] | None = None

    def update(self, records: Mapping[str, Any]) -> bool:
        """Write the records of some stages, whole or not at all; returns whether anything is another than before.

        Raises DvcException when the file is not YAML.
        """
        text = self._path.read_text(encoding="utf-8") if self._path.exists() else ""
        if text != self._text:
            self._read(text)
        self._document["stages"].update(records)
        if self._parts is not None:
            new = {name: dumps_yaml({"stages": {name: record}}).partition("\n")[2] for name, record in records.items()}
            entangled = any(map(ENTANGLED.search, new.values()))
            self._parts = None if entangled else self._parts | new
        self._text = dumps_yaml(self._document) if self._parts is None else HEAD + "".join(self._parts.values())
        if self._text == text:
            return False
        write_text(self._path, self._text)
        return True

    def _read(self, text: str) -> None:
        self._document = parse_yaml_for_update(text, self._path) or {"schema": "2.0"}
        names = list(self._document.setdefault("stages", {}))
        whole = dumps_yaml(self._document) if text else HEAD
        parts = re.split(r"(?<=\n)(?=  \S)", whole.removeprefix(HEAD)) if names else []
        apart = whole.startswith(HEAD) and len(parts) == len(names) and not any(map(ENTANGLED.search, parts))
        self._parts = dict(zip(names, parts, strict=True)) if apart else None
