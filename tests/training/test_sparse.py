import torch

from vanishing_variance.training.sparse import touched_rows

BATCH = {
    "key": torch.tensor([[[7, 2], [2, 9]], [[4, 4], [4, 4]]], dtype=torch.int16),
    "query": torch.tensor([[9, 0], [4, 4]], dtype=torch.int16),
    "value": torch.tensor([[[1, 2], [3, 4]], [[5, 6], [7, 8]]]),
}
READERS = {"table": ("key", "query")}


def test_the_rows_are_those_that_are_numbered_and_the_first_again_where_another_seed_has_more():
    batch, rows = touched_rows(BATCH, READERS, {"table": 10})
    assert rows["table"].tolist() == [[0, 2, 7, 9], [4, 4, 4, 4]]
    assert batch["key"].tolist() == [[[2, 1], [1, 3]], [[0, 0], [0, 0]]]
    assert batch["query"].tolist() == [[3, 0], [0, 0]]
    assert batch["value"] is BATCH["value"]


def test_the_rows_read_by_the_new_numbers_are_those_read_by_the_old():
    table = torch.randn(2, 10, 3, generator=torch.Generator().manual_seed(0))
    batch, rows = touched_rows(BATCH, READERS, {"table": 10})
    for seed in range(2):
        read = table[seed, rows["table"][seed]]
        for name in ("key", "query"):
            assert torch.equal(read[batch[name][seed].long()], table[seed, BATCH[name][seed].long()])


def test_without_tables_nothing_changes():
    batch, rows = touched_rows(BATCH, {}, {})
    assert batch == BATCH
    assert rows == {}
