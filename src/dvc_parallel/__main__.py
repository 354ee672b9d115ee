"""`python -m dvc_parallel` is `dvc-parallel`."""

from dvc_parallel.cli import main

if __name__ == "__main__":
    main()
