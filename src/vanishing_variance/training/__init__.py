"""Training of an ensemble of seeds: batches, Adam, checkpoints."""
