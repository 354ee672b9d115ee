import signal
import subprocess
import sys
from pathlib import Path
from unittest.mock import MagicMock

import pytest
import yaml
from made_up_pieces import PARAMS, piece, wider

from stages.pieces import KINDS, call, check_computed, folder, missing
from vanishing_variance.engine.run import Run
from vanishing_variance.harness.errors import InputError
from vanishing_variance.harness.frames import write_csv
from vanishing_variance.results.records.pieces import read_piece
from vanishing_variance.results.records.record import Record


def test_pieces_are_of_the_parameters_that_their_stages_had():
    one = Run("dictionary", "long", "ln", 1)
    used = {"model": PARAMS["model"], "tasks.dictionary.training": PARAMS["tasks"]["dictionary"]["training"]}
    lock = {"stages": {f"{kind}-long@{one}": {"params": {"params.yaml": used}} for kind in KINDS}}
    check_computed(one, lock, PARAMS)
    said = r"^params.yaml was edited while pieces were computed: train-long@\S+: model.width is 8; must be 99$"
    with pytest.raises(InputError, match=said):
        check_computed(one, lock, wider())
    with pytest.raises(InputError, match=r"^dvc.lock: train-long@dictionary-\S+-ln-1 is gone, put back while"):
        check_computed(one, {"stages": {}}, PARAMS)


def test_what_is_recorded_or_lies_there_is_not_missing_and_must_have_the_same_parameters(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    group, recorded = [Run("argmax", "short", norm, 1) for norm in ("none", "ln")], Path("metrics/some")
    assert missing(group, 2, recorded, PARAMS) == group
    recorded.mkdir(parents=True)
    (recorded / "params.yaml").write_text(yaml.safe_dump(PARAMS))
    kept = read_piece(piece(tmp_path / "piece", "argmax", "none", [2, 3]), PARAMS)
    write_csv(recorded / "pieces.csv", Record().adding(kept).pieces)
    assert missing(group, 2, recorded, PARAMS) == group[1:]
    with pytest.raises(InputError, match=r"blocks: argmax-\S+-none-0 has seeds 0 to 3, of which .* has 2; choose"):
        missing([Run("argmax", "short", "none", 0)], 4, recorded, PARAMS)
    lying = folder(group[1], [2, 3])
    piece(lying, "argmax", "ln", [2, 3])
    assert missing(group, 2, recorded, PARAMS) == []
    with pytest.raises(InputError, match=r"^params.yaml: model.width is 99; must be 8$"):
        missing(group, 2, recorded, wider())
    with pytest.raises(InputError, match=rf"^{lying}: model.width is 8; must be 99$"):
        missing(group[1:], 2, Path("metrics/other"), wider())


@pytest.mark.parametrize(
    ("waits", "code"), [([0], 0), ([KeyboardInterrupt, 0], 252), ([KeyboardInterrupt] * 2 + [7], 7)]
)
def test_an_interrupt_leaves_a_command_to_end_in_its_own_way(monkeypatch, waits, code):
    started = MagicMock()
    process = started.return_value.__enter__.return_value
    process.wait.side_effect = waits
    monkeypatch.setattr(subprocess, "Popen", started)
    assert call(["some", "command"]) == code
    process.kill.assert_not_called()


ENDS_ITS_PARENT = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(5))
while True:
    os.kill(os.getppid(), signal.SIGTERM)
    time.sleep(0.1)
"""


def test_a_sigterm_is_passed_on_to_the_command():
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        assert call([sys.executable, "-c", ENDS_ITS_PARENT]) == 5
        assert signal.getsignal(signal.SIGTERM) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGTERM, before)
