"""Tables of the page: ours and the paper's, and the records."""

import re

from made_up_results import CLAIM, PARAMS, comparisons, paper

from vanishing_variance.report.strongest import Study
from vanishing_variance.report.tables import gains, paper_table
from vanishing_variance.results.tables import numbers


def rows(html):
    """The texts of every row of a table: its names, then its cells."""
    found = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row) for row in re.findall(r"<tr.*?</tr>", html, re.DOTALL)]
    return {tuple(row[: len(row) - 3])[-1]: row[-3:] for row in found}


def test_table_1_has_ours_and_the_papers_by_length():
    of_table = numbers(comparisons(), "ln", paper())[1]
    found = rows(paper_table(1, of_table[of_table["temperature"] == "plain"], "ln"))
    assert found == {
        "": ["2⁴", "100", "2¹⁴"],
        "none": ["50.0"] * 3,
        "+ ln": ["50.0", "51.0", "52.0"],
        "ln − none (pp)": ["+0.0", "+1.0", "+2.0"],
        "95% interval": ["−1.5, +1.5", "−0.5, +2.5", "+0.5, +3.5"],
        "p": ["0", "0.001", "0.002"],
        "p, Holm": ["0", "0.01", "0.02"],
        "paper: none": ["–", "–", "49.8"],
        "paper: p": ["–", "–", "0.003"],
    }
    both = paper_table(1, of_table, "ln")
    assert both.index("plain softmax") < both.index("fitted with labels")


def test_table_3_has_the_gains_of_std_ln_and_the_treatment():
    found = rows(paper_table(3, numbers(comparisons("rms"), "rms", paper())[3], "rms"))
    assert [found[f"gain of {name} (pp)"][1] for name in ("std", "ln", "rms")] == ["+1.0"] * 3
    assert found["ln − std (pp)"] == ["+0.0", "+1.0", "+2.0"]
    assert found["paper: gain of std (pp)"] == ["+7.0", "–", "–"]


def test_gains_of_records_stand_beside_each_other_and_the_papers():
    weaker = {**CLAIM, "ours": -1.0, "low": -2.0, "high": 0.5, "verdict": "undecided", "n": 32}
    untested = {**CLAIM, "verdict": "not tested", "ours": None, "n": None}
    records = {name: Study({"argmax": claim}, PARAMS) for name, claim in (("lead", CLAIM), ("other", weaker))}
    found = rows(gains({**records, "untested": Study({"argmax": untested}, PARAMS)}))
    assert found["+3.2 [−1.0, +5.5] pp, n\u00a0=\u00a02: supported"] == [
        "−1.0 [−2.0, +0.5] pp, n\u00a0=\u00a032: undecided",
        "–",
        "+1.8",
    ]
