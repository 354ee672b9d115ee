"""README.md and docs/: the answer is current, links lead to files, and examples run."""

import json
import re
import subprocess
from textwrap import dedent

import pytest
import torch
import yaml
from checkout import ROOT

from vanishing_variance.report.readme import answer, rewritten
from vanishing_variance.report.strongest import Judged, strongest
from vanishing_variance.report.studies import read_answer, read_judged

GLOBS = (
    "README.md",
    "SECURITY.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "docs/*.md",
    "src/*/README.md",
    "benchmarks/README.md",
    "tests/README.md",
    "examples/*.ipynb",
)
PAGES = {str(path.relative_to(ROOT)): path.read_text() for pattern in GLOBS for path in ROOT.glob(pattern)}


def committed(name):
    """A result as git has it: the working tree's may be of another experiment."""
    show = ["git", "show", f"HEAD:{name}"]
    return subprocess.run(show, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def test_the_answer_is_what_the_committed_results_say(monkeypatch):
    """Else: python -m vanishing_variance.report.readme."""
    monkeypatch.chdir(ROOT)
    params = yaml.safe_load(committed("params.yaml"))
    run = Judged(json.loads(committed("metrics/claims.json")), params)
    claims = [evidence.claim for evidence in strongest(run, read_judged(params)).values()]
    current = answer(read_answer(params), claims)
    assert rewritten(PAGES["README.md"], current) == PAGES["README.md"]


@pytest.mark.parametrize("name", PAGES)
def test_the_files_that_a_page_links_to_exist(name):
    links = re.findall(r"\]\((?!https?:)([^)#]+)", PAGES[name])
    assert [link for link in links if not (ROOT / name).parent.joinpath(link).exists()] == []


@pytest.mark.parametrize(
    ("name", "function", "arguments", "expected"),
    [
        ("docs/code.md", "normalise", ([[[1.0, -4.0], [2.0, 2.0]]], 0.0), [[[0.25, -1.0], [1.0, 1.0]]]),
        ("docs/studies.md", "weights", ([[[2.0, -1.0, 1.0]]],), [[[0.8, 0.0, 0.2]]]),
    ],
)
def test_the_python_block_runs_and_is_what_it_is_an_example_of(name, function, arguments, expected):
    module = {}
    exec(dedent(re.search(r"```python\n(.*?)```", PAGES[name], re.DOTALL)[1]), module)
    parameters = {key: torch.full((1, 1, 1), start) for key, start in module["LEARNABLE"].items()}
    values, *rest = arguments
    result = module[function](torch.tensor(values), parameters, *rest)
    torch.testing.assert_close(result, torch.tensor(expected))
