"""Interventions inside trained models: one thing is set, the rest is left, and accuracy says what it was worth."""
