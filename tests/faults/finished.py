"""A finished run at a tiny scale, in this process; and one stage of it again."""

import io
import shutil
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from importlib import import_module
from pathlib import Path

import pandas as pd
import pytest
import yaml

from vanishing_variance import command, parallel
from vanishing_variance.columns import CSV
from vanishing_variance.io.files import write_text
from vanishing_variance.io.frames import write_csv
from vanishing_variance.probe.fits import ONE, fits
from vanishing_variance.probe.strategies import STRATEGIES
from vanishing_variance.report.figures import NAMES
from vanishing_variance.study import PLOTS, RANGES, TASKS, trained

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = yaml.safe_load((ROOT / "tests/smoke.yaml").read_text()) | {
    "ranges": {
        "short": {"shortest": 3, "longest": 3},
        "long": {"shortest": 3, "longest": 4, "growth": {"shape": "linear", "start": 3, "until": 0.5}},
    },
    "test": {"lengths": [4, 16], "sequences": 16},
    "diagnostics": {"sequences": 8, "heatmap_sequences": 4},
    "figures": {"task": "argmax", "lengths": [4, 16]},
    "proposition": {"lengths": [2, 4, 8], "sequences": 8, "tail": 2},
}
# In an order in which each reads what others wrote before.
AFTERWARDS = ("ttest", "mechanism", "capacity", "proposition", "claims", "report")


def stage(name, *arguments):
    """Run the script stages/<name>.py here and now: its exit code, and what it printed on standard error."""
    said = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stderr(said), redirect_stdout(io.StringIO()):
        patch.setattr(sys, "argv", [f"stages/{name}.py", *arguments])
        patch.setattr(parallel, "cores", lambda: 1)
        try:
            command.run(import_module(f"stages.{name}").main)
        except SystemExit as end:
            return end.code, said.getvalue()
    return 0, said.getvalue()


def variant(task, range_, norm):
    return ["--task", task, "--range", range_, "--norm", norm, "--block", "0"]


def finish(folder):
    """Run everything in `folder` but the probe and the figures, which take long: what they write is made up."""
    (folder / "params.yaml").write_text(yaml.safe_dump(SETTINGS, sort_keys=False))
    for name in ("constraints.txt", "reference"):
        (shutil.copytree if (ROOT / name).is_dir() else shutil.copy)(ROOT / name, folder / name)
    rows = [
        ("model", "revision", "text 1", strategy, 0, 0, 0, n, 10, n**-0.5) for strategy in STRATEGIES for n in (8, 16)
    ]
    probed = pd.DataFrame(rows, columns=CSV["figure1"])
    with chdir(folder):
        write_csv(PLOTS / "figure1.csv", probed)
        write_csv(PLOTS / "figure1-fits.csv", fits(probed, ONE))
        for name in NAMES:
            write_text(PLOTS / f"{name}.svg", '<svg xmlns="http://www.w3.org/2000/svg"/>\n')
        done = [stage("check"), *(stage("generate", "--task", task) for task in TASKS)]
        for name in ("train", "temperature", "evaluate"):
            done += [
                stage(name, *variant(task, one, norm))
                for task in TASKS
                for one in RANGES
                for norm in trained(one, "ln")
            ]
        done += [stage(name) for name in AFTERWARDS]
    assert {code for code, _ in done} == {0}, done


def contents(folder):
    """Every file below a folder, what it holds; times and locks apart, which are nobody's outputs."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and "times" not in path.parts and path.suffix != ".lock"
    }


def restore(folder, whole):
    """Put every file back to what it held."""
    for path in folder.rglob("*"):
        if path.is_file() and str(path.relative_to(folder)) not in whole:
            path.unlink()
    for name, content in whole.items():
        path = folder / name
        if path.is_dir():
            shutil.rmtree(path)
        if not path.exists() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
