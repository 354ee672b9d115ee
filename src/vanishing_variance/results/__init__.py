"""From accuracies by seed to paired tests, Tables 1 to 6, and what explains accuracy."""
