"""`python` of a stage's command is one without the project's packages: nobody activated .venv."""

import subprocess
import venv

from checkout import ROOT


def test_it_is_one_line_that_says_what_to_do(tmp_path):
    venv.create(tmp_path / "bare", symlinks=True)
    python = tmp_path / "bare/bin/python"
    done = subprocess.run([python, "-m", "stages.check"], cwd=ROOT, env={}, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"error: {python} has no package filelock; "
        "run `make repro`, which sets up .venv, or activate it: source .venv/bin/activate\n"
    )
