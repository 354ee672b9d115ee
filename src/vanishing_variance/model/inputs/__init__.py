"""How each task's sequences enter the network, one file a task.

A module has

- `initial(task, training, width, scheme)`: how its learned tensors start;
- `enter(weights, batch, tables)`: the item MLP's first linear layer as `Items`; what the query MLP reads;
- `tables(weights)`: what `enter` may look up instead of computing it for every occurrence of an item;
- `SPARSE_TABLES`, the learned tables of which a batch reads a few rows: by name, the batch's arrays that number them.

S seeds, B sequences, N items, D width, F features of the query, C classes. The batch's arrays are (S, B, ...)
where each seed has its own sequences and (1, B, ...) where all seeds share them.
"""
