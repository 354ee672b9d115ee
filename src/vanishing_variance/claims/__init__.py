"""The paper's claims, each with the rule that decides it, written down before the numbers."""
