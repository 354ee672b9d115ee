"""`dvc repro`, with the stages that do not wait for each other run at once, by workers of Dask."""
