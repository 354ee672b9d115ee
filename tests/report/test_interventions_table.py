from made_up_results import shares

from vanishing_variance.report.interventions import interventions


def test_a_row_an_intervention_before_the_normaliser_a_column_a_variant():
    table = interventions(shares())
    assert list(table.head) == ["none", "ln", "std"]
    shown = {heading: {row.name: [cell.text for cell in row.cells] for row in rows} for heading, rows in table.groups}
    assert list(shown) == ["argmax, trained on the short range", "dictionary, trained on the long range"]
    assert shown["argmax, trained on the short range"] == {
        "fall (points)": ["20.0 [19.0, 21.0]"] * 3,
        "recovered: target weight restored": ["50 [40, 60]", "50 [40, 60]", "–"],
        "damage: training sequences, global moments of the long length, before the normaliser": [
            *("50 [40, 60]", "50 [40, 60]", "–"),
        ],
    }
    long = shown["dictionary, trained on the long range"]
    assert long["fall (points)"] == ["20.0 [19.0, 21.0]", "20.0 [19.0, 21.0]", "–"]
