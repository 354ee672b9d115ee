"""What README.md, docs/ and plots show: it is current, links lead to files, examples run, columns are explained."""

import csv
import json
import re
from textwrap import dedent

import pandas as pd
import pytest
import torch
import yaml
from checkout import ROOT
from numbers_in_prose import in_git

from vanishing_variance.report.readme import answer, rewritten
from vanishing_variance.report.strongest import Results, strongest
from vanishing_variance.report.studies import read_answer, read_paper_scale

GLOBS = (
    "README.md",
    "SECURITY.md",
    "CONTRIBUTING.md",
    "docs/*.md",
    "src/*/README.md",
    "benchmarks/README.md",
    "tests/README.md",
    "examples/*.ipynb",
)
PAGES = {str(path.relative_to(ROOT)): path.read_text() for pattern in GLOBS for path in ROOT.glob(pattern)}


def test_the_answer_is_what_the_committed_results_say(monkeypatch):
    """Else: python -m vanishing_variance.report.readme."""
    monkeypatch.chdir(ROOT)
    params = yaml.safe_load(in_git("params.yaml"))
    run = Results(json.loads(in_git("metrics/claims.json")), params)
    paper_scale, _ = read_paper_scale(params)
    claims = [found.claim for found in strongest(run, paper_scale).values()]
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
        # softplus: 2, 1, 1
        ("docs/studies.md", "weights", ([[[1.854587, 0.541325, 0.541325]]],), [[[4 / 6, 1 / 6, 1 / 6]]]),
    ],
)
def test_the_python_block_runs_and_is_what_it_is_an_example_of(name, function, arguments, expected):
    module = {}
    exec(dedent(re.search(r"```python\n(.*?)```", PAGES[name], re.DOTALL)[1]), module)
    parameters = {key: torch.full((1, 1, 1), start) for key, start in module["LEARNABLE"].items()}
    values, *rest = arguments
    result = module[function](torch.tensor(values), parameters, *rest)
    torch.testing.assert_close(result, torch.tensor(expected))


DATA = (ROOT / "docs/data.md").read_text()
NAMED = re.findall(r"^\| \[`(\S+\.csv)`\]", DATA, flags=re.MULTILINE)
# Of studies, whichever the page has a link to, one file of each kind.
OF_STUDIES = ("studies/*/board.csv", "studies/*/results/*.csv")
FILES = [*NAMED, *(str(sorted(ROOT.glob(pattern))[0].relative_to(ROOT)) for pattern in OF_STUDIES)]
NAMES = [name for said in re.findall(r"`([^`\n]+)`", DATA) for name in re.split(r"[, ]+", said)]
SAID = {name.strip("…_").removesuffix("_<rule>") for name in NAMES}
# What may stand before or after a column's name, and is explained once.
PARTS = r"^(trained|line|baseline)_|_(before|after|low|high|mean|last|adaptive|averaged|[0-9]+)$"


@pytest.mark.parametrize("name", FILES)
def test_every_column_of_a_file_is_explained(name):
    columns = next(csv.reader([(ROOT / name).read_text().partition("\n")[0]]))
    stripped = {column: re.sub(PARTS, "", re.sub(PARTS, "", column)) for column in columns}
    assert [column for column, bare in stripped.items() if not {column, bare} & SAID] == []


PIPELINE = yaml.safe_load((ROOT / "dvc.yaml").read_text())
DRAWN = {name: plot for entry in PIPELINE["plots"] if isinstance(entry, dict) for name, plot in entry.items()}


@pytest.mark.parametrize("name", DRAWN)
def test_a_plot_has_named_axes_and_a_template_and_draws_columns_that_are_there(name):
    plot = DRAWN[name]
    text = (ROOT / f".dvc/plots/{plot['template']}.json").read_text()
    template = json.loads(text)
    assert all(f"<DVC_METRIC_{anchor}>" in text for anchor in ("DATA", "X", "Y"))
    assert not re.search("<DVC_METRIC_[XY]_LABEL>", text)
    assert ("<DVC_METRIC_TITLE>" in text) == ("title" in plot)
    axes = template.get("spec", template)["encoding"]
    assert all((template["title"], axes["x"]["title"], axes["y"]["title"]))
    [(path, columns)] = plot["y"].items()
    there = set(pd.read_csv(ROOT / path, nrows=1))
    assert {plot["x"], *([columns] if isinstance(columns, str) else columns)} <= there


def test_every_picture_of_the_results_is_among_them():
    pictures = {entry for entry in PIPELINE["plots"] if isinstance(entry, str)}
    drawn = {str(path.relative_to(ROOT)) for path in (ROOT / "plots").rglob("*.png")}
    assert {path for path in drawn if not path.startswith(tuple(pictures))} == set()
