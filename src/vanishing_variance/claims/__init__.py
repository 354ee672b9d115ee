"""The paper's claims, each with the rule that decides it, in one place."""
