"""The README says what the results say."""

import json
import re
import subprocess
import sys
from io import StringIO
from pathlib import Path
from textwrap import dedent
from unittest.mock import Mock

import pandas as pd
import pytest
import torch
import yaml

from stages import readme
from vanishing_variance.core.errors import InputError
from vanishing_variance.parameters import check
from vanishing_variance.report.readme import rewritten, table
from vanishing_variance.report.results import RECORD, Numbers, render
from vanishing_variance.report.strongest import Study, strongest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text()
PATHS = [ROOT / "README.md", *ROOT.glob("docs/*.md"), *ROOT.glob("src/*/README.md"), ROOT / "benchmarks/README.md"]
PAGES = {str(path.relative_to(ROOT)): path.read_text() for path in PATHS}


def committed(name):
    """A result as git has it: the working tree's may be of another experiment."""
    show = ["git", "show", f"HEAD:{name}"]
    return subprocess.run(show, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def test_the_results_page_is_what_the_committed_results_say():
    """Else: python -m stages.readme."""
    numbers = Numbers(committed, RECORD)
    assert PAGES["docs/results.md"] == render(numbers)
    assert numbers.missing == []


def test_what_holds_at_length_has_the_numbers_of_the_leaderboard():
    board = pd.read_csv(StringIO(committed("metrics/leaderboard/board.csv"))).query("rule == 'trained'")
    found = board.set_index(["line", "task"])["accuracy_16384"]
    tasks = ("argmax", "dictionary")
    best = [f"{found['direct-power-cosine', task]:.1f}%" for task in tasks]
    baseline = [f"{found['softmax', task]:.1f}%" for task in tasks]
    said = " ".join(README.split())
    assert f"have {best[0]} on argmax and {best[1]} on the dictionary, where" in said
    assert f"the baseline has {baseline[0]} and {baseline[1]} (8 seeds)" in said


def test_why_accuracy_falls_is_what_the_interventions_recover():
    shares = pd.read_csv(StringIO(committed("metrics/interventions/shares.csv"))).query("where != 'before'")
    shares = shares.query("range == 'short' and norm == 'none' and kind != 'Shapley'")
    beyond, longest = shares[shares["scope"] == "beyond training"], shares[shares["length"] == 2**14]
    found, at_2_14 = (of.set_index(["intervention", "task"])["share"].map("{:.0%}".format) for of in (beyond, longest))
    weight, moments, features = (
        [found[f"{what} restored", task] for task in ("argmax", "dictionary")]
        for what in ("target weight", "global moments", "feature moments")
    )
    said = " ".join(README.split())
    assert re.search(r"\| the target's weight [^|]*\| {} \| {} \|".format(*weight), said)
    assert "| O's global mean and variance | {} | {} |".format(*moments) in said
    assert "| every feature's mean and variance | {} | {} |".format(*features) in said
    name = ("training sequences, feature moments of the long length", "argmax")
    lost = f"lose {found[name]} of what these lose, with those of 2^14 {at_2_14[name]}."
    assert f"Short argmax sequences with the features' moments of long ones {lost}" in said
    assert f"({shares['n'].min()} seeds that had a part in that choice.)" in said
    claims = json.loads(committed("metrics/claims.json"))
    for task, words in (
        ("argmax", "and {gain} on argmax, where it attends better"),
        ("dictionary", "`ln` gains {gain} on the dictionary,"),
    ):
        claim = claims[f"cause-read-out-{task}"]
        assert words.format(gain="{ours:+.1f} [{low:+.1f}, {high:+.1f}]".format(**claim)) in said


def test_what_other_networks_gain_is_their_records():
    said, numbers = " ".join(README.split()), Numbers(committed, RECORD)

    def gain(record):
        claim = numbers.claim("dictionary", f"metrics/{record}/")
        return "{ours:+.1f} [{low:+.1f}, {high:+.1f}]".format(**claim), f"(n = {claim['n']})"

    assert "[Without them](metrics/without-biases) it is {} {}.".format(*gain("without-biases")) in said
    evidence = numbers.claim("dictionary", "metrics/velickovic/")["evidence"]
    baseline, papers = re.search(r"baseline (\S+)% at 2\^4 \(the paper's (\S+)%\)", evidence).groups()
    found, n = gain("velickovic")
    behind = f"{n[:-1]}; baseline {float(papers) - float(baseline):.1f} below the paper's at 2^4)"
    assert f"with wider embeddings it is {found} {behind}, though" in said
    kept = numbers.variance_kept("metrics/velickovic/", "dictionary")
    assert f"though O keeps {kept} of its variance at 2^14 without `ln`" in said
    more = numbers.gains_more("dictionary", "metrics/without-biases/").partition("]")[0]
    assert f"they add {more}] to it" in said.replace("[+", "[").replace(", +", ", ")


AVERAGING = [
    *("n", "last loss, none", "last loss, ln", "mean loss, none", "mean loss, ln", "gain, last", "gain, mean"),
    *("change", "as foretold", "added, none", "added, ln", "last, none", "last, ln", "mean, none", "mean, ln"),
    *("last entropy, none", "last entropy, ln", "mean entropy, none", "mean entropy, ln"),
]


def test_what_averaged_weights_do_is_what_its_table_says():
    rows = [
        [cell.strip().replace("+", "").replace("-", "−") for cell in line.split("|")[1:-1]]
        for line in committed("metrics/averaging.md").splitlines()
        if line.startswith("| dictionary |")
    ]
    of = {row[1]: dict(zip(AVERAGING, row[2:], strict=True)) for row in rows}
    results, protocol = (" ".join(PAGES[name].split()) for name in ("docs/results.md", "docs/protocol.md"))
    study = of["biases"]
    none, ln = study["mean loss, none"], study["mean loss, ln"]
    apart = float(none) - float(ln)
    assert f"leaves {none} nats to `none` and {ln} to `ln`, {apart:.4f} apart" in protocol
    assert f"gains +{study['gain, mean']} (+{study['gain, last']} with the last weights" in protocol
    assert f"meet, {apart:.4f} nats apart, and `ln` still gains, +{study['gain, mean']} ({study['n']} seeds)" in results
    assert f"it adds +{study['added, none']} points to the study's network" in protocol
    assert f"which has {study['mean, none']}% beyond 16 instead of {study['last, none']}%" in protocol
    assert f"ln`**: +{study['added, none']} points on the dictionary without a normaliser" in results
    wide = of["width 128, no W_O, logits not scaled, biases"]
    none, ln = wide["mean loss, none"], wide["mean loss, ln"]
    assert f"it leaves {none} and {ln}, and the gain is +{wide['gain, mean']}" in protocol
    times = [float(row["mean loss, none"]) / float(row["mean loss, ln"]) for row in of.values()]
    assert all(f"{ratio:.1f} (" in protocol for ratio in times)
    assert study["as foretold"] == wide["as foretold"] == "no"
    for name, said in (
        ("width 128, logits not scaled", "width 128 with unscaled logits, +{}"),
        ("GELU after both layers", "GELU after both layers, +{}"),
        ("base", "base, {}"),
    ):
        assert of[name]["as foretold"] == "yes"
        assert said.format(of[name]["gain, mean"]) in protocol
    base = of["base"]
    assert f"and averaging does not ({base['mean entropy, none']} and {base['mean entropy, ln']})" in protocol


def test_of_how_many_protocols_the_gain_on_the_dictionary_is_clear():
    of_dictionary = committed("metrics/protocols.md").partition("\n## dictionary")[2].partition("\n## argmax")[0]
    counts = re.search(
        r"in (\d+) of (\d+) protocols, clearly negative in (\d+)\. (\d+) have a baseline at most 0.5 points below the "
        r"paper's at 2\^4; of these it is clearly positive in (\d+), clearly negative in (\d+)\.",
        of_dictionary,
    )
    positive, of_all, negative, near, of_near, against = counts.groups()
    readme, results, protocol = (
        " ".join(PAGES[name].split()) for name in ("README.md", "docs/results.md", "docs/protocol.md")
    )
    assert f"of [{of_all} protocols](metrics/protocols.md)" in readme
    assert f"Of the {near} whose baseline is level with the paper's at 2^4, {of_near} gain clearly, {against}" in readme
    assert f"{of_all} protocols were tried on it. Of the {near} whose baseline is at most 0.5 pp below" in results
    assert f"{of_near} have a clearly positive gain (95% intervals, not corrected" in results
    assert f"and {against} a clearly negative one" in results
    assert f"Over all {of_all} rows" in protocol
    assert f"the gain is clearly positive in {positive}, clearly negative in {negative}" in protocol
    assert f"of the {near} that meet 6, it is so in {of_near} and {against}" in protocol
    rho, p, rho_near = re.search(r"correlation is (\S+) \(p = (\S+)\) over all, (\S+) \(", of_dictionary).groups()
    equal, protocols = re.search(r"the gain is -(\S+ \[.*?\]) over (\d+) protocols", of_dictionary).groups()
    behind = f"`ln` is behind, −{equal.replace('-', '−')} over {protocols} protocols."
    assert f"is {rho} (p = {p}), {rho_near} over the {near} with a baseline that meets 6." in protocol
    assert behind in protocol
    assert f"(Spearman {rho})" in results
    as_foretold = re.search(r"Over all \d+ it is so in (\d+)", of_dictionary)[1]
    assert f"in {as_foretold} of [{of_all} protocols]" in readme
    foretold = re.search(r"so it is in (\d+ of )(\d+), and in (\d+) of the \3 whose interval", of_dictionary)
    assert f"It foretold the sign of {foretold[1]}these {foretold[2]} (" in protocol
    assert f"and of all {foretold[3]} whose interval is on one side of 0." in protocol


@pytest.mark.parametrize("name", [name for name in PAGES if name.startswith("docs/")])
def test_a_page_begins_with_whom_it_is_for(name):
    assert re.match(r"# .*\n\nFor (whoever|readers) ", PAGES[name])


def test_its_verdicts_are_the_strongest_evidence_that_is_committed():
    """Else: python -m stages.readme."""
    run, record = (
        Study(json.loads(committed(f"{folder}claims.json")), yaml.safe_load(committed(params)))
        for folder, params in (
            ("metrics/", "params.yaml"),
            ("metrics/paper-scale/", "metrics/paper-scale/params.yaml"),
        )
    )
    evidence = strongest(run, record)
    assert len(evidence) == 47
    assert rewritten(README, evidence) == README
    assert table(evidence.values()) == PAGES["docs/verdicts.md"]


def test_no_page_is_written_where_one_cannot_be(tmp_path, monkeypatch):
    for name in ("README.md", "params.yaml", "metrics/claims.json", "metrics/paper-scale/claims.json"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(committed(name))
    (tmp_path / "metrics/paper-scale/params.yaml").write_text(committed("metrics/paper-scale/params.yaml"))
    stale = README.replace("The paper's", "Once the paper's")
    (tmp_path / "README.md").write_text(stale)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["stages.readme"])
    monkeypatch.setattr(readme, "results_page", Mock(side_effect=InputError("damaged")))
    with pytest.raises(InputError, match="damaged"):
        readme.main()
    assert (tmp_path / "README.md").read_text() == stale
    assert not (tmp_path / "docs").exists()


def test_it_is_short():
    assert len(README.splitlines()) <= 150
    assert max(map(len, README.splitlines())) <= 100


@pytest.mark.parametrize("name", PAGES)
def test_what_it_names_is_there(name):
    for path in re.findall(r"\]\((?!https:)([^)#]+)\)", PAGES[name]):
        assert (ROOT / name).parent.joinpath(path).exists(), path


COMMANDS = [line for page in PAGES.values() for line in page.splitlines() if line.startswith("dvc") and " -S " in line]


@pytest.mark.parametrize("line", COMMANDS)
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


def test_the_example_of_a_new_normaliser_is_one():
    module = {}
    exec(re.search(r"```python\n(.*?)```", README, re.DOTALL)[1], module)
    outputs = torch.tensor([[1.0, -4.0], [2.0, 2.0]])
    parameters = {name: torch.full((2,), value) for name, value in module["LEARNABLE"].items()}
    normalised = module["normalise"](outputs, parameters, 0.0)
    assert normalised.tolist() == [[0.25, -1.0], [1.0, 1.0]]


def test_the_example_of_a_new_attention_map_is_one():
    module = {}
    exec(dedent(re.search(r"```python\n(.*?)```", PAGES["docs/leaderboard.md"], re.DOTALL)[1]), module)
    parameters = {name: torch.full((1, 1, 1), value) for name, value in module["LEARNABLE"].items()}
    weights = module["weights"](torch.tensor([[[2.0, -1.0, 1.0]]]), parameters)
    torch.testing.assert_close(weights, torch.tensor([[[0.8, 0.0, 0.2]]]))
