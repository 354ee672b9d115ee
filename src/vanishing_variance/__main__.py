"""`python -m vanishing_variance` is `vanishing-variance`."""

from vanishing_variance.cli import main

if __name__ == "__main__":
    main()
