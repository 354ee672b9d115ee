from made_up_results import explained as frame

from vanishing_variance.report.explained import explained
from vanishing_variance.study.quantities import QUANTITIES


def test_a_row_a_quantity_a_column_a_grouping():
    table = explained(frame())
    assert list(table.head) == ["between seeds", "between models", "across lengths", "between models, beyond target"]
    shown = {heading: {row.name: [cell.text for cell in row.cells] for row in rows} for heading, rows in table.groups}
    assert list(shown) == [
        "argmax, trained on the short range (none, ln)",
        "dictionary, trained on the long range (none, ln)",
    ]
    first = shown["argmax, trained on the short range (none, ln)"]
    assert list(first) == [title for title, _ in QUANTITIES.values()]
    assert first["attention on the target item"] == ["50 [40, 60]", "88 [40, 60]", "50 [40, 60]", "–"]
    assert first["entropy of attention (nats)"] == ["50 [40, 60]", "50", "50 [40, 60]", "25 [20, 30]"]
