"""The page: everything that came out of a run, beside the paper's, as one HTML file that needs no other."""
