"""Inference with a block of trained models: accuracies, temperatures, diagnostics, internals."""
