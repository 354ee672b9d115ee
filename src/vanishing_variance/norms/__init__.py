"""Normalisers of the attention outputs O, one file each.

A normaliser is a module with `LEARNABLE`, its learned vectors by name and their initial value (one number a feature),
and `normalise(outputs, parameters, epsilon)`: outputs (..., D) to (..., D), where each of `parameters` broadcasts
against the outputs. `epsilon` is `model.epsilon`.
"""
