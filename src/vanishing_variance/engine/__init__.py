"""All that decides the bits of a trained model: many seeds of the one-layer model of Section 2, trained at once."""
