"""Studies: a question with several answers, each a line of parameters that differ; a folder of studies/ each."""
