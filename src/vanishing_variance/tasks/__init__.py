"""The tasks of Section 3, one file each."""
