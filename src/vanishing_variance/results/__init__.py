"""From accuracies by seed to paired tests, Tables 1 to 6, records, and what explains accuracy."""
