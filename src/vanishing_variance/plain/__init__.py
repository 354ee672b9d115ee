"""The plain engine: any `nn.Module` trained on the same streams, batches and lengths as the fast engine's models."""
