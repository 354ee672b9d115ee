import pandas as pd
import pytest
import vl_convert
from made_up_board import LENGTHS, accuracies, make_board, many_lines
from test_leaderboard_page import TRAINED

from vanishing_variance.leaderboard.curves import curves
from vanishing_variance.report.leaderboard_chart import BEST, BLACK, RULES, chart

MEANS = {"softmax": (0.99, 0.9, 0.8, 0.3), "best": (0.99, 0.98, 0.97, 0.96)}


def drawn(means=MEANS, rules=("trained",), **changes):
    frames = [
        accuracies(line, of, rule, task, **changes)
        for line, of in means.items()
        for task in ("argmax", "dictionary")
        for rule in rules
    ]
    return chart(curves(pd.concat(frames)), make_board(*frames, lines=list(means)), TRAINED)


def bound(document):
    """What can be chosen, and switched, by its words."""
    return {one["bind"]["name"]: one for one in document["params"] if "bind" in one}


def looks(document):
    """Colour and dashes of each line."""
    [dashes] = [of["encoding"]["strokeDash"]["scale"] for of in document["layer"] if of.get("name") == "means"]
    colours = document["encoding"]["color"]["scale"]
    assert colours["domain"] == dashes["domain"]
    return dict(zip(colours["domain"], zip(colours["range"], map(tuple, dashes["range"]), strict=True), strict=True))


def test_a_line_is_read_out_with_its_interval_and_seeds():
    document = drawn({"softmax": (1, 0.5, 0.25, 0.125)}, spread=0)
    words = [row["reading"] for row in document["datasets"]["readings"] if row["task"] == "argmax"]
    assert words[-1] == "softmax at N = 2¹⁴:\n12.5%, 95% interval [12.5, 12.5], n = 6 seeds"
    alone = drawn({"softmax": (1, 0.5, 0.25, 0.125)}, spread=0, seeds=[0])["datasets"]["readings"]
    assert alone[0]["reading"] == "softmax at N = 2⁴:\n100.0%, 95% interval [–], n = 1 seeds"


def test_task_and_rule_are_chosen_of_those_that_were_tested():
    chosen = bound(drawn(rules=("trained", "hard")))
    assert chosen["task"]["bind"]["options"] == ["argmax", "dictionary"]
    assert chosen["at test time"]["bind"]["options"] == ["trained", "hard"]
    assert chosen["at test time"]["bind"]["labels"] == [RULES["trained"], RULES["hard"]]
    assert chosen["at test time"]["value"] == "trained"


def test_at_first_the_best_lines_and_the_baseline_are_shown_by_rank():
    means = {"softmax": (0.99, 0.3, 0.3, 0.3)}
    means |= {f"line-{place}": (0.99, 0.9, 0.9, 0.9 - 0.05 * place) for place in range(8)}
    boxes = {name: one["value"] for name, one in bound(drawn(means)).items() if one["bind"]["input"] == "checkbox"}
    assert list(boxes) == [*(f"line-{place}" for place in range(8)), "softmax (baseline)"]
    assert [name for name, shown in boxes.items() if shown] == [
        *(f"line-{place}" for place in range(BEST)),
        "softmax (baseline)",
    ]


def test_a_line_that_diverged_on_one_task_is_among_them_last():
    board, lines = many_lines(5)
    frames = [accuracies(line, (0.9,) * 4, task=task) for line in lines for task in ("argmax", "dictionary")]
    frames = [of for of in frames if (of["line"][0], of["task"][0]) != ("broken", "argmax")]
    assert list(bound(chart(curves(pd.concat(frames)), board, TRAINED)))[-1] == "broken"
    gone = [of for of in frames if of["line"][0] != "broken"]
    assert "broken" not in bound(chart(curves(pd.concat(gone)), board, TRAINED))


def test_thirty_lines_differ_in_colour_or_dashes_and_the_best_in_both():
    found = looks(drawn(dict.fromkeys(("softmax", *map(str, range(30))), (0.99, 0.9, 0.9, 0.9)), seeds=[0, 1]))
    assert found.pop("softmax") == (BLACK, (1, 0))
    assert len(set(found.values())) == 30
    best = list(found.values())[:5]
    assert [len(set(of)) for of in zip(*best, strict=True)] == [5, 5]
    assert BLACK not in {colour for colour, _ in found.values()}


@pytest.mark.parametrize("rules", [("trained",), tuple(RULES)])
def test_vega_lite_takes_it(rules):
    document = drawn(rules=rules)
    names = {one["name"] for one in vl_convert.vegalite_to_vega(document)["signals"]}
    assert {"chosen_task", "chosen_rule", "shows_0", "shows_1", "pointed"} <= names
    assert document["encoding"]["x"]["axis"]["values"] == list(LENGTHS)
    assert document["encoding"]["x"]["scale"]["domain"] == [5, 16384]
    assert document["datasets"]["trained"] == [{"shortest": 5, "longest": 16}]
