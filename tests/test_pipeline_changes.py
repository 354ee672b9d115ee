"""Which stages run after which change, at smoke scale in a copy of this checkout.

The tests share one copy: each makes a change, reads which stages ran, and undoes the change.
"""

import re

import pytest
from checkout import EVALUATE, GENERATE, RESULTS, TEMPERATURE, stages

from results_review.comment import MARKER

pytestmark = pytest.mark.slow

REVIEW = ("env", "PYTHONPATH=src", "python", "-m", "results_review", "--base")

NEW_NORM = '''"""Division by the largest absolute value."""

LEARNABLE = {}


def normalise(outputs, parameters, epsilon):
    return outputs / (outputs.abs().amax(-1, keepdim=True) + epsilon)
'''


def test_another_treatment_of_the_paper_trains_its_long_range_alone_and_back_again_nothing(copy):
    new = {name for kind in ("train", "temperature", "evaluate") for name in stages(kind, norms={"long": ["std"]})}
    assert copy.ran("dvc", "exp", "run", "-S", "norm=std") == {*new, "check", *RESULTS}
    table = (copy.path / "metrics/tables/table1.md").read_text()
    assert "+ std" in table
    assert "| paper: " not in table
    assert "| **paper** |" in (copy.path / "metrics/tables/table3.md").read_text()
    copy.commit("norm=std")
    shown = copy("dvc", "metrics", "diff", "HEAD~1", "--md")
    assert re.search(r"\| metrics/summary.json *\| argmax.norm *\| [\d.]+ *\| [\d.]+ *\| -?[\d.]+ *\|", shown)
    assert "argmax.none" not in shown
    by_length = copy("dvc", "metrics", "diff", "HEAD~1", "--md", "--targets", "metrics/argmax.json")
    assert re.search(r"\| short.plain.norm.00016 *\| [\d.]+ *\| [\d.]+ *\| -?[\d.]+ *\|", by_length)
    review = copy(*REVIEW, "HEAD~1", "--output", "out/review.md")
    assert review == (copy.path / "out/review.md").read_text()
    assert re.match(
        rf"{MARKER}\n## .*\d+ metrics and \d+ figures changed; {len(new) + 1 + len(RESULTS)} stages ran\n", review
    )
    for said in (
        "| params.yaml | norm | ln | std |",
        "| `check` | `norm` | 0 of 1 changed |",
        "| `train-long` × 2 | new |  |",
        "| `train-long` × 2 | gone |  |",
        "| metrics/summary.json | argmax.norm |",
        "| metrics/argmax.json | short.plain.norm.00016 |",
        "`plots/figures/results/loss`",
    ):
        assert said in review, said
    assert re.search(r"^\| `ttest` \| `norm`, what .* \| \d+ of \d+ changed \|$", review, re.MULTILINE)
    assert re.search(r"^\| metrics/proposition.json \| argmax.norm.\w+ \|", review, re.MULTILINE)
    assert "WARNING" not in review
    # What git keeps is not in DVC's cache, so its stages run again; what interventions writes is in the cache.
    assert copy.ran("dvc", "exp", "run", "-S", "norm=ln") == RESULTS - {"interventions"}


def test_a_reviewer_is_warned_of_stale_results(copy):
    text = (copy.path / "params.yaml").read_text()
    (copy.path / "params.yaml").write_text(text.replace("norm: ln", "norm: std"))
    review = copy(*REVIEW, "HEAD")
    assert re.match(rf"{MARKER}\n## No result changes; \d+ stages yet to run\n", review)
    assert "**The results are not those of this tree**: run `dvc repro`" in review
    for said in ("`check`: `norm`", "`train-long` × 2: it has not run", "`ttest`: `norm`"):
        assert f"\n> - {said}" in review, said
    assert "| params.yaml | norm | ln | std |" in review
    assert re.match(
        r"error: --base: 'bogus' is unknown; must be a revision of this git repository\n$",
        copy(*REVIEW, "bogus", exit_code=2),
    )


def test_a_new_normaliser_trains_only_itself(copy):
    (copy.path / "src/vanishing_variance/norms/largest.py").write_text(NEW_NORM)
    norms = {"short": ["largest"], "long": ["largest"]}
    new = {name for kind in ("train", "temperature", "evaluate") for name in stages(kind, norms=norms)}
    assert copy.ran("dvc", "exp", "run", "-S", "norm=largest") == {*new, "check", "capacity", *RESULTS}
    assert "+ largest" in (copy.path / "metrics/tables/table1.md").read_text()


def test_new_evaluation_lengths_retrain_nothing(copy):
    text = (copy.path / "params.yaml").read_text()
    (copy.path / "params.yaml").write_text(text.replace("lengths: [4, 16, 64]", "lengths: [4, 16]"))
    ran = {"check", *GENERATE, *TEMPERATURE, *EVALUATE, "capacity", *RESULTS} - {"proposition"}
    assert copy.ran("dvc", "repro") == ran


def test_editing_a_figure_redraws_what_reads_that_room_alone(copy):
    path = copy.path / "src/vanishing_variance/figures/loss.py"
    path.write_text(path.read_text().replace("gradient step", "training step"))
    assert copy.ran("dvc", "repro") == {"check", "mechanism", "causes", "figures", "figure1", "report"}


def test_editing_how_the_proposition_is_checked_checks_it_again(copy):
    path = copy.path / "src/vanishing_variance/proposition/summary.py"
    path.write_text(path.read_text().replace('"above_bound"', '"above_the_bound"'))
    assert copy.ran("dvc", "repro") == {"check", "proposition"}  # its frames are the same, so nothing is drawn again


def test_editing_figure_1_judges_no_claim_again(copy):
    path = copy.path / "src/vanishing_variance/figures/figure1.py"
    path.write_text(path.read_text().replace("slope −0.5", "slope −1/2"))
    assert copy.ran("dvc", "repro") == {"check", "mechanism", "causes", "figures", "figure1", "report"}


def test_a_probe_that_cannot_be_made_says_so_in_one_line_and_all_else_goes_on_when_told_to(copy):
    text = (copy.path / "params.yaml").read_text()
    for old, new in (("  model: all-MiniLM-L6-v2", "  model: someone/nothing"), ("task: argmax", "task: dictionary")):
        assert old in text
        text = text.replace(old, new)
    (copy.path / "params.yaml").write_text(text)
    copy.environment["HF_HUB_OFFLINE"] = "1"
    printed = copy("dvc", "repro", "--keep-going", exit_code=255)
    del copy.environment["HF_HUB_OFFLINE"]
    said = "error: params.yaml: probe.model is 'someone/nothing': the hub cannot be reached"
    assert [line for line in printed.splitlines() if line.startswith(said)]
    assert "Traceback" not in printed
    assert set(re.findall(r"^Running stage '(.*)':$", printed, re.MULTILINE)) == {"check", "probe", "figures"}
    changed = copy("git", "status", "--porcelain", "metrics", "plots").split()[1::2]
    # DVC takes a stage's output away before it runs the stage; what was drawn from it stays.
    assert [name for name in changed if "figure1" in name or "probe" in name] == ["plots/figure1.csv"]


def test_more_seeds_train_only_the_new_block(copy):
    text = (copy.path / "params.yaml").read_text().replace("blocks: [0]", "blocks: [0, 1]")
    (copy.path / "params.yaml").write_text(text)
    assert copy.ran("dvc", "repro", "--dry", "train", "train-long") == {"check", *stages("train", block=1)}
    new = {name for kind in ("train", "temperature", "evaluate") for name in stages(kind, block=1)}
    assert copy.ran("dvc", "repro") == {"check", "capacity", *new, *RESULTS}
    assert "whitespace" not in copy("make", "default-scale").replace("apply.whitespace", "")
    assert copy.ran("dvc", "repro") == set()
    assert "before default-scale" in copy("git", "stash", "list")


def test_editing_the_page_makes_the_page_alone(copy):
    path = copy.path / "src/vanishing_variance/report/templates/style.css"
    path.write_text(path.read_text().replace("#e69f00", "#e69f01"))
    assert copy.ran("dvc", "repro") == {"check", "report"}
    assert "#e69f01" in (copy.path / "plots/report/index.html").read_text()
