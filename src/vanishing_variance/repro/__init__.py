"""The pipeline's stages, run in parallel on Dask."""
