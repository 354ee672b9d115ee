"""dictionary lookup (Section 3, B.1)."""
