"""Faults, and what is left after each."""
