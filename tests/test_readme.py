"""The README says what the results say."""

import re
import subprocess
from pathlib import Path

import pytest
import yaml

from vanishing_variance.params.whole import check

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text()


def test_every_number_in_a_results_table_is_a_line_of_the_committed_tables():
    section = README.partition("## The numbers")[2].partition("\n## ")[0]
    rows = [line for line in section.splitlines() if re.match(r"\| .*\d\.\d", line)]
    assert len(rows) == 10
    for place, row in enumerate(rows):
        name = f"HEAD:metrics/tables/table{1 if place < 5 else 2}.md"
        table = subprocess.run(["git", "show", name], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        assert row in table.splitlines(), row


def test_what_it_names_is_there():
    for path in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / path).exists(), path


@pytest.mark.parametrize("line", [line for line in README.splitlines() if " -S " in line and line.startswith("dvc")])
def test_every_change_that_it_suggests_is_valid(line):
    params = yaml.safe_load((ROOT / "params.yaml").read_text())
    for quoted, bare in re.findall(r"-S (?:'([^']+)'|([^ ;]+))", line):
        key, _, value = (quoted or bare).partition("=")
        *sections, last = key.split(".")
        section = params
        for name in sections:
            section = section[name]
        assert last in section
        section[last] = yaml.safe_load(value)
    check(params)


def test_the_example_of_a_new_normaliser_is_one(tmp_path):
    import torch

    source = re.search(r"```python\n(.*?)```", README, re.DOTALL)[1]
    module = {}
    exec(source, module)
    outputs = torch.tensor([[1.0, -4.0], [2.0, 2.0]])
    parameters = {name: torch.full((2,), value) for name, value in module["LEARNABLE"].items()}
    normalised = module["normalise"](outputs, parameters, 0.0)
    assert normalised.tolist() == [[0.25, -1.0], [1.0, 1.0]]
