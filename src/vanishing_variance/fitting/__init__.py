"""Fit of the adaptive temperature to a block's own mistakes."""
