"""Vanishing variance in transformer length generalisation (Li, Boduljak, Zhou 2025), reproduced."""
