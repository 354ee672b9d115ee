"""The schema of params.yaml, a file a section, so that a new parameter of one stage is not a code change of another."""
