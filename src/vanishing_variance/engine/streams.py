"""Named random streams: every random number comes from one, so any piece can be regenerated alone.

After the root seed a name says what is drawn, and then of what: "initial" weights by task, seed and name
(`initialisation.py`); "train" sequences and their "lengths" by task and range (`batches.py`); "test" sequences by task
and length (`measure/held_out.py`). Checks, other measurements and the probe have names of their own.
"""

import hashlib
import json

import numpy as np


def stream(*name: str | int) -> np.random.Generator:
    """Return the generator named by `name`, for example `(root_seed, "test", "argmax", 1024)`.

    The parts are hashed (SHA-256) into the seed of a PCG64: equal names give equal streams, on every machine and in
    any order of use; different names give independent ones. The number 1 and the text "1" are different names.
    """
    text = json.dumps(name)
    digest = hashlib.sha256(text.encode()).digest()
    seed = int.from_bytes(digest, "big")
    return np.random.Generator(np.random.PCG64(seed))
