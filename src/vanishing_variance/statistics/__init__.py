"""Statistics: tests, intervals, sources of uncertainty. Pure functions of arrays."""
