import numpy as np
import pandas as pd
import pytest
import vl_convert
from made_up_results import CELLS, LENGTHS, TEMPERATURES, comparisons, made_up, paper

from vanishing_variance.figures import variants
from vanishing_variance.report.chart import chart, readings
from vanishing_variance.report.tables import TEMPERATURES as WORDS


def drawn(norm="ln", **changes):
    return chart(comparisons(norm).assign(**changes), paper(CELLS), made_up(norm).params)


def bound(document):
    """What can be chosen, and switched, by its words."""
    return {one["bind"]["name"]: one for one in document["params"] if "bind" in one}


def test_a_variant_is_read_out_once_a_length_as_the_tables_round_it():
    rows = readings(comparisons(), paper(CELLS)).set_index(["task", "range", "temperature", "norm", "length"])
    assert rows.index.is_unique
    assert len(rows) == 2 * (3 + 2) * len(TEMPERATURES) * len(LENGTHS)
    first = rows.loc[("argmax", "short", "plain", "none", 16)]
    assert first["reading"] == "none at N = 2⁴: 50.0%, 95% interval [45.0, 55.0]\nn = 2 seeds; the paper: 90.0%"
    second = rows.loc[("argmax", "short", "plain", "ln", 100)]
    assert second["reading"] == "+ ln at N = 100: 50.1%, 95% interval [45.0, 55.0]\nn = 2 seeds"
    assert (second["mean"], second["low"], second["high"]) == (50.1, 45, 55)


def test_a_tie_is_rounded_as_in_the_tables():
    """By Python to the even digit, by JavaScript upwards."""
    rows = readings(comparisons().assign(baseline_mean=31.25), paper(CELLS))
    assert {text.partition("%")[0] for text in rows["reading"] if text.startswith("none at N = 100")} == {
        "none at N = 100: 31.2"
    }


def test_one_seed_has_a_dash_for_an_interval():
    nothing = {f"{role}_{end}": np.nan for role in ("baseline", "treatment") for end in ("low", "high")}
    assert "50.0%, 95% interval [–]\n" in readings(comparisons().assign(**nothing), paper(CELLS))["reading"][0]


def test_the_papers_p_values_are_no_accuracies():
    cells = pd.concat([paper(CELLS), paper([(1, "none", "p_value", 100, 0.5)])])
    rows = readings(comparisons(), cells)
    assert rows["paper"].notna().sum() == 3


@pytest.mark.parametrize("norm", ["ln", 'a"b<'])
def test_vega_lite_takes_it(norm):
    names = {one["name"] for one in vl_convert.vegalite_to_vega(drawn(norm))["signals"]}
    assert {"chosen_task", "chosen_range", "chosen_temperature", "shows_0", "pointed"} <= names


def test_everything_that_was_tested_can_be_chosen():
    chosen = bound(drawn("rms"))
    assert chosen["task"]["bind"]["options"] == ["argmax", "dictionary"]
    assert chosen["trained on"]["bind"]["options"] == ["short", "long"]
    assert chosen["trained on"]["bind"]["labels"] == ["2 to 4 items", "2 to 16 items"]
    assert chosen["at test time"]["bind"]["options"] == list(TEMPERATURES)
    assert chosen["at test time"]["bind"]["labels"] == [WORDS[name] for name in TEMPERATURES]
    assert [name for name, one in chosen.items() if one["value"] is True] == ["none", "+ std", "+ rms", "+ ln"]
    assert bound(chart(comparisons(ranges=["long"]), paper(CELLS), made_up().params))["trained on"]["value"] == "long"


def test_it_says_how_long_the_models_were_trained():
    [titles] = [one["value"] for one in drawn()["params"] if one["name"] == "titles"]
    assert titles["argmax"]["short"] == "30 of the paper's 100,000 gradient steps"
    assert titles["dictionary"]["long"] == "30 of the paper's 10,000 gradient steps"


def test_colours_are_those_of_the_figures():
    scale = drawn("rms")["encoding"]["color"]["scale"]
    assert dict(zip(scale["domain"], scale["range"], strict=True)) == {
        norm: variants.colour(norm) for norm in ("none", "std", "ln", "rms")
    }
    assert scale["range"][0] == "#000000"


def test_the_axis_has_every_length_and_begins_where_training_does():
    document = drawn()
    x = document["encoding"]["x"]
    assert x["axis"]["values"] == list(LENGTHS)
    assert x["scale"]["domain"] == [2, 16384]
    [powers] = [one["value"] for one in document["params"] if one["name"] == "powers"]
    assert powers == {"16": "2⁴", "100": "100", "16384": "2¹⁴"}
    assert document["datasets"]["trained"][0] == {"range": "short", "shortest": 2, "longest": 4}
