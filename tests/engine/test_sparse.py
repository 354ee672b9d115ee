import torch

from vanishing_variance.engine.sparse import touched_rows


def test_a_batch_numbers_the_rows_that_it_reads_and_the_first_again_where_another_seed_has_more():
    original = {
        "key": torch.tensor([[[7, 2], [2, 9]], [[4, 4], [4, 4]]], dtype=torch.int16),
        "query": torch.tensor([[9, 0], [4, 4]], dtype=torch.int16),
        "value": torch.tensor([[[1, 2], [3, 4]], [[5, 6], [7, 8]]]),
    }
    batch, rows = touched_rows(original, {"table": ("key", "query")}, {"table": 10})
    assert rows["table"].tolist() == [[0, 2, 7, 9], [4, 4, 4, 4]]
    assert batch["key"].tolist() == [[[2, 1], [1, 3]], [[0, 0], [0, 0]]]
    assert batch["query"].tolist() == [[3, 0], [0, 0]]
    assert batch["value"] is original["value"]
    assert touched_rows(original, {}, {}) == (original, {})
