"""The one-layer, single-head attention model of Section 2, many seeds at once."""
