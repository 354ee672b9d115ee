"""What a stage needs at most, reckoned before it starts and held against what is free; one file a stage.

The formulas bound what was measured; `tests/memory` measures again.
"""
