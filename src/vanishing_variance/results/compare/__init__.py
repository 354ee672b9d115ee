"""Two variants over seeds: pairs, paired tests, gains, and the paper's numbers beside ours."""
