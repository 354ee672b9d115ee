"""From raw results to tests, tables, metrics and attribution."""
