"""The page: every result of a run beside the paper's, as one HTML file; and the table of verdicts in README.md."""
