from made_up_results import explained as frame

from vanishing_variance.report.explained import explained


def test_a_row_a_choice_of_models_a_column_a_quantity():
    table = explained(frame())
    assert list(table.head) == ["variance", "entropy"]
    shown = {heading: {row.name: [cell.text for cell in row.cells] for row in rows} for heading, rows in table.groups}
    assert shown == {
        "argmax, trained on the short range": {
            "all, within a length": ["0.80 (0.70, 0.90)", "–"],
            "none, within a length": ["0.50", "0.25 (0.12, 0.50)"],
        },
        "dictionary, trained on the long range": {"all, within a length": ["–", "–"]},
    }
