"""The Makefile where a system lacks what it or DVC expects."""

import shutil
import subprocess

import pytest
from checkout import ROOT

SHOWN = 'shown: ; @echo "$$LOGNAME,$$HOME,$$PYTHONSAFEPATH"\n'


@pytest.fixture
def make(tmp_path):
    """Run make in a folder with the Makefile alone."""

    def run(target, **environment):
        (tmp_path / "Makefile").write_text((ROOT / "Makefile").read_text() + SHOWN)
        environment |= {"PATH": "/usr/local/bin:/usr/bin:/bin", "GIT_CEILING_DIRECTORIES": str(tmp_path.parent)}
        return subprocess.run(
            [shutil.which("make"), target], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )

    return run


def test_programs_get_a_name_and_a_home_where_there_are_none(make, tmp_path):
    name, home, _ = make("shown").stdout.strip().split(",")
    assert (name != "", home) == (True, str(tmp_path / ".venv"))
    assert make("shown", LOGNAME="me", HOME="/home/me", PYTHONSAFEPATH="1").stdout == "me,/home/me,\n"


@pytest.mark.parametrize("target", ["repro", "report", "default-scale"])
def test_without_a_repository_of_gits_one_line_says_what_to_do_before_anything_is_set_up(make, tmp_path, target):
    done = make(target)
    assert done.returncode == 2
    [said, of_make] = done.stderr.splitlines()
    assert said == "error: git finds no repository here, which DVC needs: git clone the project, or git init"
    assert of_make.startswith("make: ")
    assert not (tmp_path / ".venv").exists()
