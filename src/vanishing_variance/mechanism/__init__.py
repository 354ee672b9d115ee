"""Why accuracy falls with length: what happens inside every model, and how much of its accuracy that explains."""
