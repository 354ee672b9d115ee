"""Every stage that is asked for more than there is says so at once, in one line, before it touches anything."""

import importlib
import subprocess
import sys

import pytest
import yaml
from checkout import ROOT

from vanishing_variance.core import memory as enough
from vanishing_variance.core import stage as command
from vanishing_variance.core.frames import write_frame
from vanishing_variance.inference.temperature import UNCHANGED, frame

VARIANT = ["--task", "dictionary", "--range", "short", "--norm", "ln", "--block", "0"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder to run in, whose params.yaml is that of the smoke scale but for `changes`, by dotted key."""
    monkeypatch.chdir(tmp_path)

    def write(changes):
        document = yaml.safe_load((ROOT / "tests/smoke.yaml").read_text())
        for key, value in changes.items():
            *sections, name = key.split(".")
            section = document
            for part in sections:
                section = section[part]
            section[name] = value
        (tmp_path / "params.yaml").write_text(yaml.safe_dump(document))
        return tmp_path

    return write


HUGE = 100_000_000


@pytest.mark.parametrize(
    ("stage", "changes", "named"),
    [
        ("train", {"training.batch_size": HUGE}, "training.batch_size (100000000)"),
        ("train", {"model.width": 100_000}, "model.width (100000)"),
        ("train", {"tasks.dictionary.steps.short": HUGE * 20}, "tasks.dictionary.steps.short (2000000000)"),
        ("train", {"tasks.dictionary.training.embedding_width": HUGE}, "embedding_width (100000000)"),
        ("generate", {"test.sequences": HUGE * 10}, "test.sequences (1000000000) or test.lengths (64)"),
        ("evaluate", {"test.sequences": HUGE * 10}, "test.sequences (1000000000)"),
        ("evaluate", {"diagnostics.sequences": HUGE}, "diagnostics.sequences (100000000)"),
        ("evaluate", {"model.width": 100_000}, "model.width (100000)"),
        ("temperature", {"temperature.sequences": HUGE * 10}, "temperature.sequences (1000000000)"),
        ("capacity", {"model.width": 100_000}, "model.width (100000)"),
        ("interventions", {"interventions.sequences": HUGE * 10}, "interventions.sequences (1000000000)"),
        ("interventions", {"model.width": 100_000}, "model.width (100000)"),
        ("proposition", {"proposition.sequences": HUGE * 10}, "proposition.sequences (1000000000)"),
        ("probe", {"probe.sequences": HUGE}, "probe.sequences (100000000)"),
    ],
)
def test_a_stage_refuses_at_once_and_names_the_parameter(stage, changes, named, folder, monkeypatch, capsys, tried):
    where = folder(changes)
    if stage == "evaluate":
        fits = frame({"first": (UNCHANGED, 0), "second": (UNCHANGED, 0)})
        write_frame(where / "runs/temperature/ln/short/dictionary-0/temperatures.parquet", fits)
    monkeypatch.setattr(enough, "free_memory", lambda: 16 * 2**30)  # whatever this machine has
    monkeypatch.setattr(enough, "free_addresses", lambda: None)
    arguments = {"generate": VARIANT[:2], "capacity": [], "interventions": [], "proposition": [], "probe": []}.get(
        stage, VARIANT
    )
    monkeypatch.setattr(sys, "argv", [stage, *arguments])
    before = sorted(where.rglob("*"))
    with tried("a stage is asked for more memory than there is"):
        with pytest.raises(SystemExit) as ended:
            command.run(importlib.import_module(f"stages.{stage}").main)
        assert ended.value.code == 2
        said = capsys.readouterr().err
        assert said.startswith(f"error: {stage}")
        assert said.count("\n") == 1
        assert "needs about" in said
        assert named in said
        assert sorted(where.rglob("*")) == before


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of a process is read on Linux")
def test_a_limit_of_the_process_is_kept_to(folder, tried):
    """A moderate training, where a process may have two gibibytes."""
    where = folder({"training.batch_size": 20_000, "tasks.dictionary.steps.short": 2})
    for name in ("stages", "src"):
        (where / name).symlink_to(ROOT / name)
    limited = f"ulimit -v {2 * 2**20}; exec {sys.executable} -m stages.train {' '.join(VARIANT)}"
    done = subprocess.run(["bash", "-c", limited], cwd=where, capture_output=True, text=True, check=False)
    with tried("a stage is asked for more memory than there is"):
        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
        assert "which has a limit (ulimit -v)" in done.stderr
        assert "training.batch_size (20000)" in done.stderr
