"""A finished run at a tiny scale, made in this process; and a stage of it again."""

import io
import os
import shutil
import sys
from contextlib import chdir, redirect_stderr, redirect_stdout
from importlib import import_module
from pathlib import Path

import jaxtyping
import pandas as pd
import pytest
import yaml

from stages.pieces import collect
from vanishing_variance.core import parallel
from vanishing_variance.core import stage as command
from vanishing_variance.core.files import write_text
from vanishing_variance.core.frames import write_csv
from vanishing_variance.core.paths import Run
from vanishing_variance.core.seeds import seeds
from vanishing_variance.probe.fits import ONE, fits
from vanishing_variance.report.figures import NAMES
from vanishing_variance.report.strongest import OTHER_RECORDS, RECORD
from vanishing_variance.study.columns import CSV
from vanishing_variance.study.runs import NORMS, PLOTS, RANGES, TASKS, trained
from vanishing_variance.study.strategies import STRATEGIES

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = yaml.safe_load((ROOT / "tests/smoke.yaml").read_text()) | {
    "ranges": {
        "short": {"shortest": 3, "longest": 3},
        "long": {"shortest": 3, "longest": 4, "growth": {"shape": "linear", "start": 3, "until": 0.5}},
    },
    "test": {"lengths": [4, 16], "sequences": 16},
    "diagnostics": {"sequences": 8, "heatmap_sequences": 4},
    "figures": {"task": "argmax", "lengths": [4, 16]},
    "interventions": {"sequences": 8, "training_sequences": 8},
    "proposition": {"lengths": [2, 4, 8], "sequences": 8, "tail": 2},
}
NOBODYS = ("runs/times/", "runs/checkpoints/")
PICTURE = (
    '<svg xmlns="http://www.w3.org/2000/svg" xmlns:dc="http://purl.org/dc/elements/1.1/">'
    "<dc:title>Title</dc:title><dc:description>Caption</dc:description>\n</svg>\n"
)
# In an order in which each reads what others wrote before.
AFTERWARDS = ("ttest", "mechanism", "capacity", "interventions", "causes", "proposition", "claims", "report")


def stage(name, *arguments):
    """Run the script stages/<name>.py in this folder and process: its exit code, and its standard error."""
    said = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stderr(said), redirect_stdout(io.StringIO()):
        patch.setattr(sys, "argv", [f"stages/{name}.py", *arguments])
        patch.setattr(parallel, "cores", lambda: 1)
        patch.setattr(jaxtyping.config, "jaxtyping_disable", True)  # as outside the tests
        try:
            command.run(import_module(f"stages.{name}").main)
        except SystemExit as end:
            return end.code, said.getvalue()
    return 0, said.getvalue()


def variant(task, range_, norm):
    return ("--task", task, "--range", range_, "--norm", norm, "--block", "0")


def holds(folder):
    """What every file below a folder holds, but what is nobody's output: times, checkpoints, the page's side file."""
    paths = (path for path in folder.rglob("*") if path.is_file() and path.name != "run.html")
    files = {str(path.relative_to(folder)): path for path in paths}
    return {name: path.read_bytes() for name, path in files.items() if not name.startswith(NOBODYS)}


class Finished:
    """Everything has run but the probe and the figures, which take long: what they write is made up."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "params.yaml").write_text(yaml.safe_dump(SETTINGS, sort_keys=False))
        read = "claims.json", "params.yaml", "plots/accuracy.svg", "tables/paper.csv", "tables/tests.csv"
        for name in (f"metrics/{record}/{of}" for record in (RECORD, *OTHER_RECORDS) for of in read):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
        with chdir(folder):
            self._make_up()
            self._run("check")
            variants = [(task, one, norm) for task in TASKS for one in RANGES for norm in trained(one, "ln")]
            for task in TASKS:
                self._run("generate", "--task", task)
            for name in ("train", "temperature", "evaluate"):
                for one in variants:
                    self._run(name, *variant(*one))
            for task, one, norm in variants:
                collect(Run(task, one, norm, 0), seeds(0, SETTINGS["seeds_per_block"]), SETTINGS)
            for name in AFTERWARDS:
                self._run(name)
        self.whole = holds(folder)
        self._state = self.state()

    def _make_up(self):
        where = ("model", "revision", "text 1")
        rows = [(*where, name, 0, 0, 0, n, 10, n**-0.5) for name in STRATEGIES for n in (8, 16, 32)]
        probed = pd.DataFrame(rows, columns=CSV["figure1"])
        write_csv(PLOTS / "figure1.csv", probed)
        write_csv(PLOTS / "figures/figure1/figure1-fits.csv", fits(probed, ONE).assign(model="model"))
        steps = [
            (task, norm, seed, step, 1.0) for task in TASKS for norm in NORMS for seed in (0, 1) for step in (15, 30)
        ]
        write_csv(PLOTS / "data/loss.csv", pd.DataFrame(steps, columns=CSV["loss"]))
        for name in NAMES:
            own = name if name in ("figure1", "interventions", "mechanism") else "results"
            write_text(PLOTS / "figures" / own / f"{name}.svg", PICTURE)

    def _run(self, *script):
        code, said = stage(*script)
        assert code == 0, (script, said)

    def state(self):
        """When each file was last written, and its size; of the same files as `holds`."""
        found = {}
        for folder, _, names in os.walk(self.folder):
            for path in (Path(folder, name) for name in names):
                name, about = str(path.relative_to(self.folder)), path.stat()
                if not name.startswith(NOBODYS) and path.name != "run.html":
                    found[name] = (about.st_mtime_ns, about.st_ino, about.st_size)
        return found

    def holds_what_it_held(self):
        """Whether every file does, and there is no other."""
        return holds(self.folder) == self.whole

    def restore(self):
        """Put every file back to what it held."""
        now = self.state()
        for name in now.keys() - self.whole.keys():
            (self.folder / name).unlink()
        for name, content in self.whole.items():
            path = self.folder / name
            if now.get(name) != self._state[name]:
                if path.is_dir():
                    path.rmdir()
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
        self._state = self.state()
