"""Inference with a block of trained models, at any temperature."""
