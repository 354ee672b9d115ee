"""Evaluation of a block of trained models: accuracies, diagnostics, internals."""
