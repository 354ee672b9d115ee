from pathlib import Path

from vanishing_variance.report.versions import pinned

ROOT = Path(__file__).resolve().parents[2]


def test_versions_are_those_of_the_constraints():
    text = "# torch==9.9 here\ntorch==2.13.0\nJinja2==3.1.6\nnumpy==2.4.6\n"
    assert list(pinned(text, ["numpy", "torch", "absent"]).items()) == [("numpy", "2.4.6"), ("torch", "2.13.0")]


def test_what_the_page_names_is_pinned():
    names = ["torch", "numpy", "scipy", "pandas", "dvc"]
    assert list(pinned((ROOT / "constraints.txt").read_text(), names)) == names
