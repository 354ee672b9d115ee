"""argmax retrieval (Section 3, B.1; Veličković et al. 2024)."""
