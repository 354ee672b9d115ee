"""Pieces of a long study, from several machines, and the record that they add up to."""
