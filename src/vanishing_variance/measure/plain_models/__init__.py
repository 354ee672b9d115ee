"""The plain engine's models on the same test sequences as the fast engine's: answers, losses, their inside."""
