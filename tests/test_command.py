import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
TRAIN = ["--task", "argmax", "--range", "short", "--norm", "ln", "--block", "0"]


def changed(name, value):
    arguments = TRAIN.copy()
    arguments[arguments.index(name) + 1] = value
    return arguments


@pytest.mark.parametrize(
    ("stage", "arguments", "said"),
    [
        ("train", changed("--task", "sort"), "argument --task: 'sort' is unknown; choose from argmax, dictionary"),
        ("train", changed("--norm", "batch"), "argument --norm: 'batch' is unknown; choose from ln, "),
        ("train", changed("--range", "huge"), "params.yaml: ranges.huge is missing; ranges has: short"),
        ("train", changed("--block", "x"), "argument --block: invalid int value: 'x'"),
        ("train", changed("--block", "-1"), "argument --block: -1 must be a number from 0 to 2147483647"),
        ("train", TRAIN[2:], "the following arguments are required: --task"),
        ("generate", ["--task", "../x"], "tasks: '../x' is unknown; choose from argmax, dictionary"),
        ("check", ["--fast"], "unrecognized arguments: --fast"),
    ],
)
def test_a_bad_argument_is_one_line_and_exit_code_2(stage, arguments, said, tmp_path):
    for name in ("stages", "src", "params.yaml"):
        (tmp_path / name).symlink_to(ROOT / name)
    command = [sys.executable, "-m", f"stages.{stage}", *arguments]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("error: ")
    assert said in done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["params.yaml", "src", "stages"]
