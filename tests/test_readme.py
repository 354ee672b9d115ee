"""README.md and docs/: what programs write there is current, what is linked to exists, and what is shown runs."""

import json
import re
import subprocess
from pathlib import Path
from textwrap import dedent

import pytest
import torch
import yaml

from vanishing_variance.report.readme import rewritten, table
from vanishing_variance.report.results import RECORD, Numbers, render
from vanishing_variance.report.strongest import Study, strongest

ROOT = Path(__file__).resolve().parents[1]
PATHS = [ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("src/*/README.md"), ROOT / "benchmarks/README.md"]
PAGES = {str(path.relative_to(ROOT)): path.read_text() for path in PATHS}


def committed(name):
    """A result as git has it: the working tree's may be of another experiment."""
    show = ["git", "show", f"HEAD:{name}"]
    return subprocess.run(show, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def study(folder, params):
    return Study(json.loads(committed(f"{folder}claims.json")), yaml.safe_load(committed(params)))


def test_what_programs_write_is_what_the_committed_results_say():
    """Else: python -m stages.readme."""
    numbers = Numbers(committed, RECORD)
    assert PAGES["docs/results.md"] == render(numbers)
    assert numbers.missing == []
    evidence = strongest(study("metrics/", "params.yaml"), study(RECORD, f"{RECORD}params.yaml"))
    assert rewritten(PAGES["README.md"], evidence) == PAGES["README.md"]
    assert table(evidence.values()) == PAGES["docs/verdicts.md"]


@pytest.mark.parametrize("name", PAGES)
def test_the_files_that_a_page_links_to_exist(name):
    links = re.findall(r"\]\((?!https?:)([^)#]+)", PAGES[name])
    assert [link for link in links if not (ROOT / name).parent.joinpath(link).exists()] == []


@pytest.mark.parametrize("name", ["README.md", "docs/leaderboard.md"])
def test_the_python_block_runs_and_is_what_it_is_an_example_of(name):
    module = {}
    exec(dedent(re.search(r"```python\n(.*?)```", PAGES[name], re.DOTALL)[1]), module)
    parameters = {of: torch.full((1, 1, 1), value) for of, value in module["LEARNABLE"].items()}
    if name == "README.md":  # a normaliser: divides by the largest size of a feature
        outputs = module["normalise"](torch.tensor([[[1.0, -4.0], [2.0, 2.0]]]), parameters, 0.0)
        torch.testing.assert_close(outputs, torch.tensor([[[0.25, -1.0], [1.0, 1.0]]]))
    else:  # an attention map, without its negative logits
        weights = module["weights"](torch.tensor([[[2.0, -1.0, 1.0]]]), parameters)
        torch.testing.assert_close(weights, torch.tensor([[[0.8, 0.0, 0.2]]]))
