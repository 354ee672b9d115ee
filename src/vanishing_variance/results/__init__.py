"""Parts of the study: its runs, its scales, the columns of its tables."""
