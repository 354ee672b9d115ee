"""The comment on a pull request: what it changes in the results of a DVC project."""
