"""What a task's items are when they are i.i.d. and the query is fixed, as Proposition 1 assumes; one file a task.

A module has

- `draw(task, rng, sequences, length)`: sequences of items drawn independently, with replacement, all with one query;
- `enumerated(task)`: every item of the distribution once, each as probable as the others, in parts of bounded size:
  single sequences (1, n) with the same query.

Both give the arrays of `Task.sample` without `target`: a fixed query has none. B sequences, N items.
"""
